package dev.steadwork;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Why a run or an attempt failed, as it is stored.
 *
 * @param type the class name of the exception, or one of the engine's own reasons such as {@code deadline_exceeded}
 * @param message one line for people
 * @param step the step that failed, if it was one
 * @param stackTrace the stack trace, shortened, if there was an exception
 */
public record RunError(
        String type,
        @Nullable String message,
        @Nullable String step,
        @Nullable String stackTrace) {

    private static final Pattern LINE_BREAK = Pattern.compile("\\s*\\R\\s*");

    /** The run's deadline passed before it finished. */
    public static final String DEADLINE_EXCEEDED = "deadline_exceeded";
    /** The workers that executed the run died more often than its crash budget allows. */
    public static final String WORKER_LOST = "worker_lost";
    /** A worker that claims by type prefix has no handler for the run's type. */
    public static final String NO_HANDLER_REGISTERED = "no_handler_registered";
    /** An operator terminated the run. */
    public static final String TERMINATED = "terminated";
    /** A child was cancelled; what its parent sees of it. */
    public static final String CANCELLED = "cancelled";
    /** A child was deleted before it ended; what its parent sees of it. */
    public static final String DELETED = "deleted";
    /** No signal came in time. */
    public static final String AWAIT_TIMEOUT = "await_timeout";
    /** The run was cancelled, and an undo step of it failed. */
    public static final String COMPENSATION_FAILED = "compensation_failed";
    /** A step did not end within its timeout. */
    public static final String STEP_TIMEOUT = "step_timeout";

    /** The error in one line, as lists show it. */
    public String line() {
        var text = message == null || message.isBlank() ? type : type + ": " + message;
        var line = step == null ? text : "step " + step + ": " + text;
        return LINE_BREAK.matcher(line).replaceAll(" ");
    }
}
