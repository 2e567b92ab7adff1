package dev.steadwork;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * How often and how fast something is tried again.
 *
 * @param maxAttempts attempts in all, the first one included; negative means endless
 * @param initialInterval the wait after the first failure
 * @param coefficient what the wait is multiplied by after each further failure
 * @param maxInterval the longest wait
 * @param jitter how much of a wait is left to chance, 0 to 0.5: a wait is shortened by up to this part
 * @param nonRetryable class names of exceptions (their subclasses included) that are not tried again
 */
public record RetryPolicy(
        int maxAttempts,
        Duration initialInterval,
        double coefficient,
        Duration maxInterval,
        double jitter,
        Set<String> nonRetryable) {

    private static final RetryPolicy DEFAULTS =
            new RetryPolicy(5, Duration.ofSeconds(1), 2.0, Duration.ofSeconds(60), 0.5, Set.of());

    public RetryPolicy {
        if (maxAttempts == 0) {
            throw new InvalidArgument("maxAttempts is 0; use 1 for no retry, a negative number for endless retries.");
        }
        Check.notNegative("initialInterval", initialInterval);
        Check.notNegative("maxInterval", maxInterval);
        if (!(coefficient >= 1.0 && coefficient <= 1000.0)) {
            throw new InvalidArgument("coefficient is %s; allowed is 1.0 to 1000.0.".formatted(coefficient));
        }
        if (!(jitter >= 0.0 && jitter <= 0.5)) {
            throw new InvalidArgument("jitter is %s; allowed is 0.0 to 0.5.".formatted(jitter));
        }
        nonRetryable = Set.copyOf(Check.noNulls("nonRetryable", nonRetryable));
    }

    /** Five attempts, waits of 1 s doubling to at most 60 s, shortened by up to half at random. */
    public static RetryPolicy defaults() {
        return DEFAULTS;
    }

    /** One attempt only. */
    public static RetryPolicy none() {
        return DEFAULTS.withMaxAttempts(1);
    }

    /** The default waits, without end. */
    public static RetryPolicy forever() {
        return DEFAULTS.withMaxAttempts(-1);
    }

    public RetryPolicy withMaxAttempts(int attempts) {
        return new RetryPolicy(attempts, initialInterval, coefficient, maxInterval, jitter, nonRetryable);
    }

    public RetryPolicy withInitialInterval(Duration interval) {
        return new RetryPolicy(maxAttempts, interval, coefficient, maxInterval, jitter, nonRetryable);
    }

    public RetryPolicy withCoefficient(double factor) {
        return new RetryPolicy(maxAttempts, initialInterval, factor, maxInterval, jitter, nonRetryable);
    }

    public RetryPolicy withMaxInterval(Duration interval) {
        return new RetryPolicy(maxAttempts, initialInterval, coefficient, interval, jitter, nonRetryable);
    }

    public RetryPolicy withJitter(double part) {
        return new RetryPolicy(maxAttempts, initialInterval, coefficient, maxInterval, part, nonRetryable);
    }

    /** Names exceptions that are not tried again, beside {@link PermanentFailure}. */
    @SafeVarargs
    public final RetryPolicy withNonRetryable(Class<? extends Throwable>... types) {
        var names = new HashSet<>(nonRetryable);
        for (var type : types) {
            names.add(Check.notNull("non-retryable type", type).getName());
        }
        return new RetryPolicy(maxAttempts, initialInterval, coefficient, maxInterval, jitter, names);
    }

    /** Whether another attempt is allowed after this many have failed with this failure. */
    public boolean allowsRetry(int failedAttempts, Throwable failure) {
        return (maxAttempts < 0 || failedAttempts < maxAttempts) && isRetryable(failure);
    }

    private boolean isRetryable(Throwable failure) {
        if (failure instanceof PermanentFailure) {
            return false;
        }
        for (Class<?> type = failure.getClass(); type != null; type = type.getSuperclass()) {
            if (nonRetryable.contains(type.getName())) {
                return false;
            }
        }
        return true;
    }

    /** How long to wait after this many failed attempts; {@link RetryAfter} wins over the policy. */
    public Duration delayAfter(int failedAttempts, Throwable failure, RandomGenerator random) {
        if (failure instanceof RetryAfter after) {
            return after.delay();
        }
        double millis = initialInterval.toMillis() * Math.pow(coefficient, Math.max(0, failedAttempts - 1));
        double capped = Math.min(millis, maxInterval.toMillis());
        return Duration.ofMillis(Math.round(capped * (1.0 - jitter * random.nextDouble())));
    }
}
