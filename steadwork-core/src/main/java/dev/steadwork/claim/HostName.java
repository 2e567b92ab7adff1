package dev.steadwork.claim;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** The name of this machine, for people who look at workers. */
final class HostName {
    private static final String NAME = find();

    private HostName() {}

    static String get() {
        return NAME;
    }

    private static String find() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unnamed) {
            return "localhost";
        }
    }
}
