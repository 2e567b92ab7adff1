package dev.steadwork;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.testing.Proves;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

@Proves("STEP-7")
class RetryPolicyTest {
    private static final Exception FAILURE = new IOException("broken");
    private static final RandomGenerator RANDOM = new Random(7);

    private final RetryPolicy exact = RetryPolicy.defaults().withJitter(0);

    @Test
    void the_defaults_are_five_attempts_from_one_second_doubling_to_a_minute() {
        var defaults = RetryPolicy.defaults();

        assertThat(defaults.maxAttempts()).isEqualTo(5);
        assertThat(defaults.initialInterval()).isEqualTo(Duration.ofSeconds(1));
        assertThat(defaults.coefficient()).isEqualTo(2.0);
        assertThat(defaults.maxInterval()).isEqualTo(Duration.ofSeconds(60));
        assertThat(defaults.jitter()).isEqualTo(0.5);
        assertThat(defaults.nonRetryable()).isEmpty();
    }

    @Test
    void a_wait_grows_by_the_coefficient_up_to_the_maximum() {
        assertThat(IntStream.rangeClosed(1, 8)
                        .mapToObj(failed ->
                                exact.delayAfter(failed, FAILURE, RANDOM).toSeconds()))
                .containsExactly(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L);
    }

    @Test
    void a_wait_stays_at_the_maximum_however_often_it_failed() {
        assertThat(exact.delayAfter(Integer.MAX_VALUE, FAILURE, RANDOM)).isEqualTo(Duration.ofSeconds(60));
    }

    @Test
    void chance_shortens_a_wait_by_no_more_than_the_jitter() {
        var jittery = RetryPolicy.defaults().withJitter(0.25);

        var waits = IntStream.range(0, 1000)
                .mapToObj(i -> jittery.delayAfter(1, FAILURE, RANDOM))
                .toList();

        assertThat(waits).allMatch(wait -> wait.toMillis() >= 750 && wait.toMillis() <= 1000);
        assertThat(Set.copyOf(waits)).hasSizeGreaterThan(100);
    }

    @Test
    void the_wait_that_the_failure_asks_for_wins() {
        var busy = new RetryAfter(Duration.ofHours(3), "busy");

        assertThat(RetryPolicy.defaults().delayAfter(1, busy, RANDOM)).isEqualTo(Duration.ofHours(3));
    }

    @Test
    void another_attempt_is_allowed_until_the_maximum_is_reached() {
        assertThat(exact.allowsRetry(4, FAILURE)).isTrue();
        assertThat(exact.allowsRetry(5, FAILURE)).isFalse();
        assertThat(RetryPolicy.none().allowsRetry(1, FAILURE)).isFalse();
        assertThat(RetryPolicy.forever().allowsRetry(Integer.MAX_VALUE, FAILURE))
                .isTrue();
    }

    @Test
    void a_permanent_failure_and_named_types_with_their_subclasses_are_not_tried_again() {
        var picky = RetryPolicy.forever().withNonRetryable(IOException.class);

        assertThat(picky.allowsRetry(1, new PermanentFailure("stolen"))).isFalse();
        assertThat(picky.allowsRetry(1, new IOException())).isFalse();
        assertThat(picky.allowsRetry(1, new FileNotFoundException())).isFalse();
        assertThat(picky.allowsRetry(1, new IllegalStateException())).isTrue();
    }
}
