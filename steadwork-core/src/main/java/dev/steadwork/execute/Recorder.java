package dev.steadwork.execute;

import dev.steadwork.RunId;
import dev.steadwork.SteadworkException;
import dev.steadwork.store.Ack;
import dev.steadwork.store.Committer;
import dev.steadwork.store.Write;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
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

    /** A call to the store. */
    @FunctionalInterface
    interface Call<T, X extends Exception> {
        T make() throws X;
    }

    /** Stores the write; {@link Ack#LEASE_LOST} without trying further once {@code pointless} says so. */
    Ack write(Write.Fenced write, BooleanSupplier pointless) {
        return confirm(write, submit(write), pointless);
    }

    /** Begins to store the write; what becomes of it is told by {@link #confirm}. */
    CompletableFuture<Ack> submit(Write.Fenced write) {
        return committer.write(write);
    }

    /** Waits for a write that was submitted, and stores it again if that failed. */
    Ack confirm(Write.Fenced write, CompletableFuture<Ack> submitted, BooleanSupplier pointless) {
        var sent = new boolean[1];
        return insist(
                write.run(),
                write.getClass()::getSimpleName,
                () -> {
                    var ack = sent[0] ? committer.write(write) : submitted;
                    sent[0] = true;
                    return joined(ack);
                },
                pointless,
                Ack.LEASE_LOST);
    }

    private static Ack joined(CompletableFuture<Ack> ack) {
        try {
            return ack.join();
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof SteadworkException known ? known : failed;
        }
    }

    /** Makes the call until the store answers; the last value without trying further once {@code pointless} says so. */
    <T, X extends Exception> T insist(
            RunId run, Supplier<String> what, Call<T, X> call, BooleanSupplier pointless, T ifPointless) throws X {
        boolean interrupted = false;
        var wait = FIRST_WAIT;
        try {
            while (true) {
                try {
                    return call.make();
                } catch (SteadworkException trouble) {
                    if (!mayPass(trouble)) {
                        throw trouble;
                    }
                    log.warn(
                            "Run {}: {} has not reached the database yet, trying again within {} s: {}",
                            run,
                            what.get(),
                            wait.toSeconds(),
                            trouble.getMessage());
                }
                if (pointless.getAsBoolean()) {
                    return ifPointless;
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
