package dev.steadwork.trigger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.steadwork.InvalidState;
import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.store.RunEnd;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AwaitedEndTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration MOMENT = Duration.ofMillis(5);
    private static final RunEnd END = new RunEnd(new RunId(new UUID(0, 1)), RunStatus.COMPLETED, Payload.NONE, null);

    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    private final AwaitedEnd end = new AwaitedEnd();

    @AfterEach
    void close() {
        timers.shutdownNow();
    }

    @Test
    @Proves("RESULT-1")
    void all_who_wait_are_told() {
        var one = waiting();
        var other = waiting();
        await().until(() -> end.waitingForSomeTime() == 2);
        end.complete(END);

        assertThat(one).succeedsWithin(PATIENCE).isSameAs(END);
        assertThat(other).succeedsWithin(PATIENCE).isSameAs(END);
        assertThat(end.future()).isCompletedWithValue(END);
    }

    @Test
    void who_comes_later_is_told_at_once() throws Exception {
        end.complete(END);

        assertThat(end.await(Duration.ZERO, timers)).isSameAs(END);
    }

    @Test
    void who_waits_is_told_why_nothing_comes() {
        var waiting = waiting();
        end.fail(new InvalidState("closed"));

        assertThat(waiting).failsWithin(PATIENCE).withThrowableThat().withRootCauseInstanceOf(InvalidState.class);
    }

    @Test
    void who_gives_up_leaves_nothing_behind() {
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> end.await(MOMENT, timers))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(TimeoutException.class);
        }

        assertThat(end.waitingForSomeTime()).isZero();
        assertThat(end.future().getNumberOfDependents()).isZero();
    }

    private CompletableFuture<RunEnd> waiting() {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return end.await(PATIENCE, timers);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                task -> new Thread(task).start());
    }
}
