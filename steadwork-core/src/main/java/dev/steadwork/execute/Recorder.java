package dev.steadwork.execute;

import dev.steadwork.SteadworkException;
import dev.steadwork.store.Ack;
import dev.steadwork.store.Committer;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what user code achieved until it is stored: a success is never turned into a failure by the network. Gives up
 * only when the run is someone else's or gone.
 */
final class Recorder {
    private static final Duration FIRST_WAIT = Duration.ofSeconds(1);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);
    private static final Logger log = LoggerFactory.getLogger(Recorder.class);

    private final Committer committer;
    private final Availability availability;

    Recorder(Committer committer, Availability availability) {
        this.committer = committer;
        this.availability = availability;
    }

    /** Stores the write; {@link Ack#LEASE_LOST} without trying further once {@code pointless} says so. */
    Ack write(Write.Fenced write, BooleanSupplier pointless) {
        boolean interrupted = false;
        var wait = FIRST_WAIT;
        try {
            while (true) {
                try {
                    return committer.write(write).join();
                } catch (CompletionException failed) {
                    if (!(failed.getCause() instanceof SteadworkException known)) {
                        throw failed;
                    }
                    if (!mayPass(known)) {
                        throw known;
                    }
                    log.warn(
                            "Run {}: {} is not stored yet, trying again within {} s: {}",
                            write.run(),
                            write.getClass().getSimpleName(),
                            wait.toSeconds(),
                            known.getMessage());
                }
                if (pointless.getAsBoolean()) {
                    return Ack.LEASE_LOST;
                }
                // An interrupt must neither spin this loop nor stop it; whoever interrupts makes the write pointless.
                interrupted |= Thread.interrupted();
                availability.await(jittered(wait));
                wait = wait.multipliedBy(2).compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait.multipliedBy(2);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether the trouble may end without a change of this program: the network, rights, a schema being migrated. */
    private static boolean mayPass(SteadworkException trouble) {
        return switch (trouble.code()) {
            case UNAVAILABLE, TIMEOUT, UNAUTHORIZED, PRECONDITION_FAILED -> true;
            default -> false;
        };
    }

    private static Duration jittered(Duration wait) {
        return Duration.ofMillis(
                (long) (wait.toMillis() * ThreadLocalRandom.current().nextDouble(0.5, 1.0)));
    }
}
