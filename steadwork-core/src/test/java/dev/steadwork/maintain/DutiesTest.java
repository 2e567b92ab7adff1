package dev.steadwork.maintain;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a duty does, it is done again. */
class DutiesTest {
    private static final Duration OFTEN = Duration.ofMillis(10);

    private final AtomicInteger done = new AtomicInteger();

    @ParameterizedTest
    @ValueSource(longs = {-1, 0, 400 * 365})
    void a_duty_looks_at_its_interval_whenever_it_says_that_more_is_due(long days) {
        isDoneAgain(() -> Duration.ofDays(days));
    }

    @Test
    void a_duty_that_fails_is_done_again() {
        isDoneAgain(() -> {
            throw new StackOverflowError("on purpose");
        });
    }

    @Test
    void a_duty_whose_thread_was_interrupted_is_done_again() {
        isDoneAgain(() -> {
            Thread.currentThread().interrupt();
            return null;
        });
    }

    @Test
    void a_duty_that_is_hardly_ever_due_is_done_when_it_is_woken() {
        var duties = new Duties(List.of(new Duty("rare", Duration.ofDays(3 * 36_500), this::count)));
        duties.start();
        try {
            duties.wake("rare");
            await().until(() -> done.get() == 1);
            duties.wake("rare");
            await().until(() -> done.get() == 2);
        } finally {
            duties.stop();
        }
    }

    private Duration count() {
        done.incrementAndGet();
        return Duration.ofDays(1_000_000);
    }

    private void isDoneAgain(Duty.Work work) {
        var duties = new Duties(List.of(new Duty("often", OFTEN, () -> {
            done.incrementAndGet();
            return work.work();
        })));
        duties.start();
        try {
            await().until(() -> done.get() >= 3);
        } finally {
            duties.stop();
        }
    }
}
