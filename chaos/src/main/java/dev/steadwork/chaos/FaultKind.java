package dev.steadwork.chaos;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** What goes wrong. */
enum FaultKind {
    /** kill -9 of a worker; another one is started. */
    KILL(5),
    /** A worker is stopped for longer than its lease, and then goes on as if nothing had happened. */
    FREEZE(4),
    /** kill -9 of a client; another one is started. */
    KILL_CLIENT(1),
    RESTART_FAST(1),
    RESTART_IMMEDIATE(2),
    /** All sessions of the database are ended. */
    TERMINATE_ALL(2),
    /** One session is ended. */
    TERMINATE_ONE(2),
    /** The network breaks all connections and lets none come about. */
    CUT(2),
    DELAY(2),
    /** The network loses everything and tells nobody. */
    SWALLOW(2),
    /** The database has done what was asked for, and its answer is lost. */
    LOSE_ANSWERS(3),
    /** Notifications are lost. */
    DEAFEN(2),
    /** All connections of a worker's pool are taken. */
    EXHAUST_POOL(2),
    /** The disk of the database file is full. */
    DISK_FULL(4);

    static final Set<FaultKind> OF_PROCESSES = EnumSet.of(KILL, FREEZE, KILL_CLIENT);
    static final Set<FaultKind> OF_POSTGRES = EnumSet.complementOf(EnumSet.of(DISK_FULL));

    private final int weight;

    FaultKind(int weight) {
        this.weight = weight;
    }

    int weight() {
        return weight;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
