package dev.steadwork;

/**
 * What kind of thing went wrong, sorted by who must act. The one table that maps an error to a retry decision, an HTTP
 * status, a gRPC code and the exit code of a command.
 */
public enum ErrorCode {
    /** The run, workflow or schedule named does not exist. */
    NOT_FOUND(false, 404, "NOT_FOUND", 4),
    /** Something else already holds the key or name. */
    CONFLICT(false, 409, "ALREADY_EXISTS", 5),
    /** The caller passed a value that can never work. */
    INVALID_ARGUMENT(false, 400, "INVALID_ARGUMENT", 2),
    /** A payload is over the configured limit. */
    PAYLOAD_TOO_LARGE(false, 413, "INVALID_ARGUMENT", 2),
    /** The run is not in a status that allows this. */
    INVALID_STATE(false, 409, "FAILED_PRECONDITION", 6),
    /** Another worker owns the run now. */
    LEASE_LOST(false, 409, "ABORTED", 7),
    /** A condition outside the run is not met, such as no worker online or a schema that is too old. */
    PRECONDITION_FAILED(false, 412, "FAILED_PRECONDITION", 8),
    /** The caller may not do this. */
    UNAUTHORIZED(false, 401, "UNAUTHENTICATED", 9),
    /** The database cannot be reached now; the same call may work later. */
    UNAVAILABLE(true, 503, "UNAVAILABLE", 10),
    /** The database did not answer in time; the call may or may not have taken effect. */
    TIMEOUT(true, 504, "DEADLINE_EXCEEDED", 11),
    /** A value could not be turned into bytes or back. */
    SERIALIZATION(false, 422, "INVALID_ARGUMENT", 12),
    /** The run that was waited for ended as FAILED. */
    RUN_FAILED(false, 422, "FAILED_PRECONDITION", 20),
    /** The run that was waited for ended as CANCELLED. */
    RUN_CANCELLED(false, 422, "CANCELLED", 21),
    /** The result did not come within the time the caller was willing to wait. */
    AWAIT_TIMEOUT(true, 504, "DEADLINE_EXCEEDED", 22),
    /** A step used up its attempts. */
    STEP_FAILED(false, 422, "FAILED_PRECONDITION", 23),
    /** The handler took another path than the recorded steps of its run. */
    NON_DETERMINISTIC(false, 422, "FAILED_PRECONDITION", 24);

    private final boolean retryable;
    private final int httpStatus;
    private final String grpcCode;
    private final int exitCode;

    ErrorCode(boolean retryable, int httpStatus, String grpcCode, int exitCode) {
        this.retryable = retryable;
        this.httpStatus = httpStatus;
        this.grpcCode = grpcCode;
        this.exitCode = exitCode;
    }

    /** Whether the same call may succeed later without anyone changing anything. */
    public boolean retryable() {
        return retryable;
    }

    /** The HTTP status that a server answers with. */
    public int httpStatus() {
        return httpStatus;
    }

    /** The name of the gRPC status code that a server answers with. */
    public String grpcCode() {
        return grpcCode;
    }

    /** The exit code of a command that ends with this error. */
    public int exitCode() {
        return exitCode;
    }
}
