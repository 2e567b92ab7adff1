package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.steadwork.ErrorCode;
import dev.steadwork.SteadworkException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Checks that a call is refused with the right code and a message that helps. */
final class Refusal {
    private Refusal() {}

    static void assertRefused(ErrorCode code, ThrowingCallable call, String... says) {
        var refusal = of(call);

        assertThat(refusal.code()).as(refusal.getMessage()).isEqualTo(code);
        for (var part : says) {
            assertThat(refusal).hasMessageContaining(part);
        }
    }

    /** The error that the call ends with. */
    static SteadworkException of(ThrowingCallable call) {
        var refusal = catchThrowableOfType(SteadworkException.class, call);
        assertThat(refusal).as("refusal").isNotNull();
        return refusal;
    }
}
