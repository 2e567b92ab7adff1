package dev.steadwork.store;

import dev.steadwork.KeyPolicy;
import dev.steadwork.Payload;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.TriggerCheck;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run to be created. Null means: what the type's definition says, or the engine's default.
 *
 * @param start when it may start
 * @param deadline when it must have ended
 * @param depth how many ancestors it has
 * @param endsWithParent whether it is cancelled when its parent ends otherwise than by completing
 */
public record NewRun(
        RunId id,
        String namespace,
        String type,
        @Nullable String queue,
        @Nullable String concurrencyKey,
        Payload input,
        int priority,
        Moment start,
        Moment deadline,
        @Nullable RetryPolicy retry,
        @Nullable String version,
        @Nullable String externalId,
        @Nullable String idempotencyKey,
        @Nullable KeyPolicy keyPolicy,
        TriggerCheck check,
        Map<String, String> tags,
        RunInfo.@Nullable Parent parent,
        int depth,
        boolean endsWithParent) {

    /** A run that is no child. */
    public NewRun(
            RunId id,
            String namespace,
            String type,
            @Nullable String queue,
            @Nullable String concurrencyKey,
            Payload input,
            int priority,
            Moment start,
            Moment deadline,
            @Nullable RetryPolicy retry,
            @Nullable String version,
            @Nullable String externalId,
            @Nullable String idempotencyKey,
            @Nullable KeyPolicy keyPolicy,
            TriggerCheck check,
            Map<String, String> tags,
            RunInfo.@Nullable Parent parent) {
        this(
                id,
                namespace,
                type,
                queue,
                concurrencyKey,
                input,
                priority,
                start,
                deadline,
                retry,
                version,
                externalId,
                idempotencyKey,
                keyPolicy,
                check,
                tags,
                parent,
                0,
                false);
    }

    /** A point in time: fixed, a while after the transaction, or (both null) not given. */
    public record Moment(@Nullable Instant at, @Nullable Duration after) {
        public static final Moment NONE = new Moment(null, null);

        public boolean isGiven() {
            return at != null || after != null;
        }
    }
}
