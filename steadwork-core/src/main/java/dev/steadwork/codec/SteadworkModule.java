package dev.steadwork.codec;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.steadwork.Payload;
import dev.steadwork.RunId;
import org.jspecify.annotations.Nullable;

/** How Steadwork's own types look in JSON, kept here so that they need no annotations. */
final class SteadworkModule extends SimpleModule {
    SteadworkModule() {
        super("steadwork");
        setMixInAnnotation(RunId.class, RunIdAsText.class);
        setMixInAnnotation(Payload.class, PayloadAsBase64.class);
    }

    abstract static class RunIdAsText {
        @JsonValue
        @Override
        public abstract String toString();

        @JsonCreator
        static @Nullable RunId parse(@SuppressWarnings("unused") String text) {
            return null;
        }
    }

    /** An empty payload has both its parts too, whatever the mapper leaves out elsewhere. */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    interface PayloadAsBase64 {
        @JsonIgnore
        boolean isNone();
    }
}
