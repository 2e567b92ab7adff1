package dev.steadwork;

/**
 * How large payloads may be.
 *
 * @param warnBytes over this size a payload is warned of; at least 1
 * @param maxBytes over this size a payload is refused; not less than the warning size
 */
public record PayloadLimits(int warnBytes, int maxBytes) {
    public PayloadLimits {
        if (warnBytes < 1 || maxBytes < warnBytes) {
            throw new InvalidArgument(
                    "payloadLimits(%d, %d): the limits must be at least 1, and the warning not over the maximum."
                            .formatted(warnBytes, maxBytes));
        }
    }
}
