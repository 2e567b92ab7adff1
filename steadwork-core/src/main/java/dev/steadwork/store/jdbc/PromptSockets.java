package dev.steadwork.store.jdbc;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import javax.net.SocketFactory;

/**
 * For the connection that listens. With each notification the driver waits another millisecond for a further one, by a timeout of
 * that length; these sockets say at once whether there is something to read. Public because the driver makes it by name.
 */
public final class PromptSockets extends SocketFactory {
    private static final int MOMENT_MILLIS = 1;

    @Override
    public Socket createSocket() {
        return new PromptSocket();
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return getDefault().createSocket(host, port);
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
        return getDefault().createSocket(host, port, localHost, localPort);
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return getDefault().createSocket(host, port);
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) throws IOException {
        return getDefault().createSocket(host, port, localHost, localPort);
    }

    private static final class PromptSocket extends Socket {
        @Override
        public InputStream getInputStream() throws IOException {
            return new FilterInputStream(super.getInputStream()) {
                @Override
                public int read() throws IOException {
                    dontWaitAMoment();
                    return super.read();
                }

                @Override
                public int read(byte[] bytes, int from, int length) throws IOException {
                    dontWaitAMoment();
                    return super.read(bytes, from, length);
                }

                private void dontWaitAMoment() throws IOException {
                    if (getSoTimeout() == MOMENT_MILLIS && available() == 0) {
                        throw new SocketTimeoutException("Nothing to read now.");
                    }
                }
            };
        }
    }
}
