package dev.steadwork.maintain;

import dev.steadwork.EventPublisher;
import dev.steadwork.PermanentFailure;
import dev.steadwork.RetryPolicy;
import dev.steadwork.execute.Threads;
import dev.steadwork.store.Outgoing;
import dev.steadwork.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends what is in the outbox: takes the oldest event of each run for a while, sends them side by side, keeps what became of
 * them. If the process dies in between, the events are sent again when that while is over.
 */
public final class Dispatcher implements Duty.Work {
    private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);
    private static final int BATCH = 100;
    private static final int SIDE_BY_SIDE = 16;
    private static final int MAX_ERROR = 500;
    private static final String NO_TIME = "There was no time left to send it.";

    private final Store store;
    private final String namespace;
    private final EventPublisher publisher;
    private final RetryPolicy retry;
    private final Duration lease;
    private final String sender = UUID.randomUUID().toString();
    private final ExecutorService threads = Threads.perTask();

    /** @param lease how long an event stays with a process that has fallen silent */
    public Dispatcher(Store store, String namespace, EventPublisher publisher, RetryPolicy retry, Duration lease) {
        this.store = store;
        this.namespace = namespace;
        this.publisher = publisher;
        this.retry = retry;
        this.lease = lease;
    }

    @Override
    public @Nullable Duration work() {
        var batch = store.claimOutbox(namespace, sender, BATCH, lease);
        if (batch.events().isEmpty()) {
            return batch.untilNext();
        }
        var settled = sendAll(batch.events());
        store.settleOutbox(namespace, sender, settled);
        // What was published may let others follow; otherwise there is time until the first is tried again.
        return settled.stream().anyMatch(one -> one.outcome() == Outgoing.Outcome.PUBLISHED)
                ? Duration.ZERO
                : settled.stream()
                        .map(one -> one.outcome() == Outgoing.Outcome.DEAD ? Duration.ZERO : one.delay())
                        .min(Duration::compareTo)
                        .orElse(null);
    }

    private List<Outgoing.Settled> sendAll(List<Outgoing> events) {
        // Past half of the lease nothing more is begun, so that it ends while the event is still ours.
        long lastStart = System.nanoTime() + lease.dividedBy(2).toNanos();
        var open = new ConcurrentLinkedQueue<>(events);
        var settled = new ConcurrentLinkedQueue<Outgoing.Settled>();
        Callable<@Nullable Void> sending = () -> {
            sendFrom(open, settled, lastStart);
            return null;
        };
        try {
            threads.invokeAll(
                    Collections.nCopies(Math.min(SIDE_BY_SIDE, events.size()), sending),
                    lease.toNanos(),
                    TimeUnit.NANOSECONDS);
        } catch (InterruptedException stopped) {
            store.settleOutbox(
                    namespace,
                    sender,
                    all(events, settled, one -> deferred(one, Duration.ZERO, "The process stopped.")));
            Thread.currentThread().interrupt();
            return List.of();
        }
        open.forEach(one -> settled.add(deferred(one, Duration.ZERO, NO_TIME)));
        // What hangs was interrupted, and others may send the event now.
        return all(
                events,
                settled,
                one -> failed(one, new TimeoutException("It was not sent within %s.".formatted(lease))));
    }

    /** What became of all of them, also of those of which nothing is known yet. */
    private static List<Outgoing.Settled> all(
            List<Outgoing> events, Queue<Outgoing.Settled> settled, Function<Outgoing, Outgoing.Settled> unknown) {
        var all = new ArrayList<>(settled);
        var left = new ArrayList<>(events);
        all.forEach(one -> left.remove(one.outgoing()));
        left.forEach(one -> all.add(unknown.apply(one)));
        return all;
    }

    private void sendFrom(Queue<Outgoing> open, Queue<Outgoing.Settled> settled, long lastStart) {
        for (var next = open.poll(); next != null; next = open.poll()) {
            settled.add(System.nanoTime() - lastStart < 0 ? send(next) : deferred(next, Duration.ZERO, NO_TIME));
        }
    }

    private Outgoing.Settled send(Outgoing outgoing) {
        try {
            publisher.publish(outgoing.event());
            return new Outgoing.Settled(outgoing, Outgoing.Outcome.PUBLISHED, Duration.ZERO, null);
        } catch (EventPublisher.NotNow notTried) {
            return deferred(outgoing, notTried.delay(), message(notTried));
        } catch (PermanentFailure refused) {
            return dead(outgoing, refused);
        } catch (InterruptedException stopped) {
            return deferred(outgoing, Duration.ZERO, "The process stopped.");
        } catch (Exception | LinkageError | AssertionError failure) {
            return failed(outgoing, failure);
        }
    }

    private Outgoing.Settled failed(Outgoing outgoing, Throwable failure) {
        int attempt = outgoing.failures() + 1;
        if (retry.maxAttempts() >= 0 && attempt >= retry.maxAttempts()) {
            return dead(outgoing, failure);
        }
        var delay = retry.delayAfter(attempt, failure, ThreadLocalRandom.current());
        return new Outgoing.Settled(outgoing, Outgoing.Outcome.FAILED, delay, message(failure));
    }

    private Outgoing.Settled dead(Outgoing outgoing, Throwable failure) {
        log.warn(
                "Event {} ({}) is given up after {} attempts: {}. outbox().redrive({}) publishes it after all.",
                outgoing.event().id(),
                outgoing.event().kind().label(),
                outgoing.failures() + 1,
                message(failure),
                outgoing.event().number());
        return new Outgoing.Settled(outgoing, Outgoing.Outcome.DEAD, Duration.ZERO, message(failure));
    }

    private static Outgoing.Settled deferred(Outgoing outgoing, Duration delay, String why) {
        return new Outgoing.Settled(outgoing, Outgoing.Outcome.DEFERRED, delay, why);
    }

    private static String message(Throwable failure) {
        var message = failure.getMessage() == null ? failure.getClass().getName() : failure.getMessage();
        return message.length() <= MAX_ERROR ? message : message.substring(0, MAX_ERROR);
    }
}
