package dev.steadwork;

/** A payload is over the configured limit. Keep large data in external storage and pass a reference to it. */
public final class PayloadTooLarge extends InvalidArgument {
    private final int size;
    private final int limit;

    public PayloadTooLarge(String context, int size, int limit) {
        super(
                ErrorCode.PAYLOAD_TOO_LARGE,
                "%s is %,d bytes, over the limit of %,d bytes. Keep large data in external storage and pass a reference to it, or raise payloadLimits(...)."
                        .formatted(context, size, limit));
        this.size = size;
        this.limit = limit;
    }

    /** The size of the refused payload in bytes. */
    public int size() {
        return size;
    }

    /** The configured limit in bytes. */
    public int limit() {
        return limit;
    }
}
