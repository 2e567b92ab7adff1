package dev.steadwork.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.InvalidState;
import dev.steadwork.Observer;
import dev.steadwork.Payload;
import dev.steadwork.RunStatus;
import dev.steadwork.testing.Proves;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Every write that is handed over is answered, once, whoever does it. */
interface CommitterRules extends StoreRules {
    int MANY = 200;
    Duration SOON = Duration.ofSeconds(30);

    @Test
    @Proves("STEP-3")
    default void a_lane_commits_the_next_writes_while_a_large_batch_is_still_being_answered() {
        var answers = new LinkedBlockingQueue<Runnable>();
        try (var lane = new HeldLane(store(), answers::add)) {
            var large = triggerMany(lane);

            assertThat(lane.committer.trigger(aRun().build())).succeedsWithin(SOON);

            assertThat(large).noneMatch(CompletableFuture::isDone);
            answers.forEach(Runnable::run);
            assertThat(large).allSatisfy(CommitterRules::isCreated);
        }
    }

    @Test
    @Proves("STEP-3")
    default void a_lane_that_finds_nobody_to_answer_a_large_batch_does_it_itself_and_writes_nothing_twice() {
        Executor noThread = task -> {
            throw new RejectedExecutionException("no thread");
        };
        try (var lane = new HeldLane(store(), noThread)) {
            var large = triggerMany(lane);

            assertThat(large).allSatisfy(CommitterRules::isCreated);
            assertThat(lane.written).hasValue(1 + MANY);
        }
    }

    @Test
    @Proves("STEP-3")
    default void an_observer_that_throws_an_error_does_not_fail_the_write_it_is_told_of() {
        var observers = new Observers();
        observers.add(new Observer() {
            @Override
            public void committed(int writes, Duration took) {
                throw new AssertionError("observer");
            }
        });
        var run = running();
        try (var committer = new Committer(store(), observers, Runnable::run)) {
            var end = new Write.Finish(run.id(), run.epoch(), RunStatus.COMPLETED, Payload.NONE, null, null);

            assertThat(committer.write(end)).succeedsWithin(SOON).isEqualTo(Ack.STORED);
        }
    }

    @Test
    default void a_write_that_comes_just_as_the_committer_is_closed_is_refused() {
        var committer = new AtomicReference<Committer>();
        var closing = (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("checkMayWrite")) { // asked after the look whether it is closed
                        committer.get().close();
                    }
                    return method.invoke(store(), arguments);
                });
        committer.set(new Committer(closing));

        assertThat(committer.get().trigger(aRun().build()))
                .failsWithin(SOON)
                .withThrowableThat()
                .withCauseInstanceOf(InvalidState.class);
    }

    /** One write, and then many in a batch of their own, which is stored. */
    private List<CompletableFuture<TriggerResult>> triggerMany(HeldLane lane) {
        lane.committer.trigger(aRun().build());
        lane.awaitWritten(1);
        var results = new ArrayList<CompletableFuture<TriggerResult>>();
        for (int i = 0; i < MANY; i++) {
            results.add(lane.committer.trigger(aRun().build()));
        }
        lane.letGo();
        lane.awaitWritten(1 + MANY);
        return results;
    }

    private static void isCreated(CompletableFuture<TriggerResult> result) {
        assertThat(result)
                .succeedsWithin(SOON)
                .extracting(TriggerResult::outcome)
                .isEqualTo(TriggerResult.Outcome.CREATED);
    }

    /** A committer that goes no further after its first write until it is let go: what comes meanwhile is one batch. */
    final class HeldLane implements Observer, AutoCloseable {
        private final CountDownLatch held = new CountDownLatch(1);
        final AtomicInteger written = new AtomicInteger();
        final Committer committer;

        HeldLane(Store store, Executor answering) {
            var observers = new Observers();
            observers.add(this);
            committer = new Committer(store, observers, answering);
        }

        @Override
        public void committed(int writes, Duration took) {
            written.addAndGet(writes);
            try {
                held.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }

        void awaitWritten(int writes) {
            await().atMost(SOON).until(() -> written.get() >= writes);
        }

        void letGo() {
            held.countDown();
        }

        @Override
        public void close() {
            letGo();
            committer.close();
        }
    }
}
