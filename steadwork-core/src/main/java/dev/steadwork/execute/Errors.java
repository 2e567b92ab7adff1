package dev.steadwork.execute;

import dev.steadwork.InvalidArgument;
import dev.steadwork.NonDeterministicWorkflow;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunError;
import dev.steadwork.Serialization;
import dev.steadwork.StepFailedException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.jspecify.annotations.Nullable;

/** Failures of user code as they are stored, and which of them are worth another attempt. */
final class Errors {
    private static final int MAX_MESSAGE = 4_000;
    private static final int MAX_STACK_TRACE = 8_000;

    private Errors() {}

    static RunError of(Throwable failure, @Nullable String step) {
        var type = failure instanceof StepTimeout
                ? RunError.STEP_TIMEOUT
                : failure.getClass().getName();
        return new RunError(type, shortened(message(failure), MAX_MESSAGE), step, stackTrace(failure));
    }

    /** Whether the policy and the kind of failure allow another attempt. */
    static boolean mayRetry(RetryPolicy policy, int failedAttempts, Throwable failure) {
        return policy.allowsRetry(failedAttempts, failure) && !isPermanent(failure);
    }

    private static boolean isPermanent(Throwable failure) {
        return failure instanceof Serialization
                || failure instanceof InvalidArgument
                || failure instanceof NonDeterministicWorkflow
                || failure instanceof StepFailedException;
    }

    /** A failure's own message; user code may throw even from there. */
    private static @Nullable String message(Throwable failure) {
        try {
            return failure.getMessage();
        } catch (Throwable broken) {
            return "(getMessage() threw " + broken.getClass().getName() + ")";
        }
    }

    private static @Nullable String stackTrace(Throwable failure) {
        var text = new StringWriter();
        try {
            failure.printStackTrace(new PrintWriter(text));
        } catch (Throwable broken) {
            text.append("(no stack trace: ").append(broken.getClass().getName()).append(')');
        }
        return shortened(text.toString(), MAX_STACK_TRACE);
    }

    private static @Nullable String shortened(@Nullable String text, int max) {
        return text == null || text.length() <= max ? text : text.substring(0, max) + "...";
    }
}
