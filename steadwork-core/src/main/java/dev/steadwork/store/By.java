package dev.steadwork.store;

import dev.steadwork.Check;
import org.jspecify.annotations.Nullable;

/** Who asks for something, and why. */
public record By(@Nullable String actor, @Nullable String reason) {
    public static final By NOBODY = new By(null, null);

    public static By checked(String actor, @Nullable String reason) {
        return new By(Check.name("actor", actor), reason == null ? null : Check.name("reason", reason));
    }
}
