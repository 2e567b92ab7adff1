package dev.steadwork;

/** The caller may not do this; check the credentials and the role. */
public final class Unauthorized extends SteadworkException {
    public Unauthorized(String message) {
        super(ErrorCode.UNAUTHORIZED, message, null);
    }
}
