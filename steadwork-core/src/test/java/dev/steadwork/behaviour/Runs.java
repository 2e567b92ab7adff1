package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RetryPolicy;
import dev.steadwork.RunCancelledException;
import dev.steadwork.RunError;
import dev.steadwork.RunFailedException;
import dev.steadwork.RunHandle;
import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.StepOptions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** What tests ask of runs, and quick settings for them. */
final class Runs {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Runs() {}

    /** Waits for the run to fail, and says why it did. */
    static RunError failureOf(RunHandle<?> run) {
        var failed = catchThrowableOfType(RunFailedException.class, () -> run.await(PATIENCE));
        assertThat(failed).as("failure of the run").isNotNull();
        return failed.error();
    }

    /** Waits for the run to end, however it does. */
    static void awaitEnd(RunHandle<?> run) {
        run.future()
                .handle((output, failure) -> run)
                .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .join();
    }

    static void awaitCancelled(RunHandle<?> run) {
        assertThatThrownBy(() -> run.await(PATIENCE)).isInstanceOf(RunCancelledException.class);
    }

    static void awaitStatus(RunHandle<?> run, RunStatus status) {
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(run::status, status::equals);
    }

    /** Waits until the worker of the run knows all that was asked of it before. */
    static void awaitTwoHeartbeats(RunHandle<?> run) {
        for (int beat = 0; beat < 2; beat++) {
            var leaseEnd = run.info().times().due();
            await().atMost(PATIENCE).until(() -> run.info().times().due().isAfter(leaseEnd));
        }
    }

    static StepInfo step(RunHandle<?> run, String name) {
        return run.steps().stream()
                .filter(step -> step.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no step " + name + " in " + run.steps()));
    }

    /** So many attempts with next to no wait between them. */
    static RetryPolicy quick(int attempts) {
        return RetryPolicy.defaults()
                .withMaxAttempts(attempts)
                .withInitialInterval(Duration.ofMillis(1))
                .withMaxInterval(Duration.ofMillis(5));
    }

    /** A step with so many attempts and next to no wait between them. */
    static StepOptions attempts(int attempts) {
        return StepOptions.defaults().retry(quick(attempts));
    }
}
