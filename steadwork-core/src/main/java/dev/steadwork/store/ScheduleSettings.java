package dev.steadwork.store;

import dev.steadwork.KeyPolicy;
import dev.steadwork.Payload;
import dev.steadwork.ScheduleInfo;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What people say about a schedule.
 *
 * @param input the input of its runs; null to leave it as it is
 */
public record ScheduleSettings(
        ScheduleInfo.Target target,
        String cron,
        String zone,
        ScheduleInfo.Rules rules,
        boolean enabled,
        @Nullable Payload input) {

    /** The run of a slot. The same slot always has the same key, so that it cannot be run twice. */
    public NewRun run(String namespace, String schedule, Instant slot) {
        var externalId = "schedule-" + schedule;
        return new NewRun(
                // All runs of a schedule are beside it, whatever their keys: one transaction fires and advances it.
                RunIds.next(namespace, externalId),
                namespace,
                target.workflow(),
                target.queue(),
                null,
                input == null ? Payload.NONE : input,
                target.priority(),
                NewRun.Moment.NONE,
                NewRun.Moment.NONE,
                null,
                target.version(),
                externalId,
                externalId + "@" + slot,
                KeyPolicy.FOREVER,
                target.check(),
                target.tags(),
                null);
    }
}
