package dev.steadwork;

/** The caller passed a value that can never work; the message names it and what is allowed. */
public sealed class InvalidArgument extends SteadworkException permits PayloadTooLarge {
    public InvalidArgument(String message) {
        this(ErrorCode.INVALID_ARGUMENT, message);
    }

    InvalidArgument(ErrorCode code, String message) {
        super(code, message, null);
    }
}
