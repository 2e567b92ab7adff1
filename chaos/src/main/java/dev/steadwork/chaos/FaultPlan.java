package dev.steadwork.chaos;

import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/** Which fault comes next: the same seed gives the same faults. */
final class FaultPlan {
    static final int WORKERS = 3;

    private final Random random;
    private final Set<FaultKind> kinds;
    private final Duration lease;

    FaultPlan(long seed, Set<FaultKind> kinds, Duration lease) {
        this.random = new Random(seed);
        this.kinds = new TreeSet<>(kinds);
        this.lease = lease;
    }

    Fault next() {
        var pause = between(1_000, 5_000);
        var kind = kind();
        int lane = 1 + random.nextInt(WORKERS);
        return new Fault(pause, kind, lane, lasting(kind));
    }

    private FaultKind kind() {
        int roll = random.nextInt(kinds.stream().mapToInt(FaultKind::weight).sum());
        for (var kind : kinds) {
            roll -= kind.weight();
            if (roll < 0) {
                return kind;
            }
        }
        throw new AssertionError(kinds);
    }

    private Duration lasting(FaultKind kind) {
        return switch (kind) {
            case FREEZE -> lease.plus(between(300, 2_000));
            case KILL, KILL_CLIENT -> between(100, 1_000);
            case RESTART_FAST, RESTART_IMMEDIATE -> between(0, 1_500);
            case TERMINATE_ALL, TERMINATE_ONE -> between(0, 1);
            case LOSE_ANSWERS -> between(200, 1_500);
            case DEAFEN, DELAY -> between(2_000, 5_000);
            case CUT, SWALLOW, EXHAUST_POOL, DISK_FULL -> between(300, 4_000);
        };
    }

    private Duration between(int from, int to) {
        return Duration.ofMillis(from + random.nextInt(to - from));
    }
}
