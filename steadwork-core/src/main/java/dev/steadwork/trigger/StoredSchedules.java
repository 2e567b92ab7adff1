package dev.steadwork.trigger;

import dev.steadwork.Conflict;
import dev.steadwork.InvalidArgument;
import dev.steadwork.NotFound;
import dev.steadwork.Page;
import dev.steadwork.Payload;
import dev.steadwork.PreconditionFailed;
import dev.steadwork.RunHandle;
import dev.steadwork.ScheduleFiring;
import dev.steadwork.ScheduleInfo;
import dev.steadwork.ScheduleSpec;
import dev.steadwork.Schedules;
import dev.steadwork.SteadworkException;
import dev.steadwork.TypeRef;
import dev.steadwork.maintain.Cron;
import dev.steadwork.maintain.SlotPlanner;
import dev.steadwork.store.NextSlot;
import dev.steadwork.store.ScheduleSettings;
import dev.steadwork.store.ScheduleStore;
import dev.steadwork.store.TriggerResult;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The schedules of a namespace. */
public record StoredSchedules(Engine engine) implements Schedules.Source {
    private static final int MAX_BACKFILL = 1_000;

    @Override
    public ScheduleInfo create(String id, ScheduleSpec spec) {
        var settings = settings(id, spec, Payload.NONE);
        store().create(engine.namespace(), id, settings, firstFromNow(id, settings));
        return get(id);
    }

    @Override
    public ScheduleInfo get(String id) {
        var found = store().find(engine.namespace(), id);
        if (found == null) {
            throw unknown(id);
        }
        return found;
    }

    @Override
    public Page<ScheduleInfo> page(int size) {
        return page(size, null);
    }

    private Page<ScheduleInfo> page(int size, @Nullable String after) {
        var items = store().list(engine.namespace(), after, size);
        if (items.size() < size) {
            return new Page<>(items, null);
        }
        var last = items.get(items.size() - 1).id();
        return new Page<>(items, () -> page(size, last));
    }

    @Override
    public ScheduleInfo update(String id, Function<ScheduleInfo, ScheduleSpec> change) {
        ScheduleInfo present;
        ScheduleSettings settings;
        NextSlot next;
        do {
            present = get(id);
            settings = settings(id, change.apply(present), null);
            next = nextAfterChange(present, settings);
        } while (!store().update(engine.namespace(), present, settings, next));
        return get(id);
    }

    /** Slots that were missed and can still be made up for stay so, unless they are no longer slots. */
    private NextSlot nextAfterChange(ScheduleInfo present, ScheduleSettings settings) {
        boolean sameSlots =
                present.cron().equals(settings.cron()) && present.zone().equals(settings.zone());
        if (sameSlots && !settings.enabled()) {
            return NextSlot.NONE;
        }
        return sameSlots && present.nextSlot() != null
                ? new SlotPlanner().nextSlot(present.id(), settings, present.nextSlot())
                : firstFromNow(present.id(), settings);
    }

    private NextSlot firstFromNow(String id, ScheduleSettings settings) {
        var next = new SlotPlanner().next(id, settings, store().now());
        if (next.slot() == null) {
            throw new InvalidArgument("Schedule %s: cron '%s' matches no day that will come. Check day and month."
                    .formatted(id, settings.cron()));
        }
        return settings.enabled() ? next : NextSlot.NONE;
    }

    private ScheduleSettings settings(String id, ScheduleSpec spec, @Nullable Payload unlessGiven) {
        var input = spec.hasInput() ? engine.payloads().encode("Input of schedule " + id, spec.input()) : unlessGiven;
        return new ScheduleSettings(spec.target(), spec.cron(), spec.zone(), spec.rules(), spec.enabled(), input);
    }

    @Override
    public void delete(String id) {
        if (!store().delete(engine.namespace(), id)) {
            throw unknown(id);
        }
    }

    @Override
    public RunHandle<Object> trigger(String id) {
        var result = store().trigger(engine.namespace(), id);
        if (result == null) {
            throw unknown(id);
        }
        return handle(id, result);
    }

    @Override
    public List<RunHandle<Object>> backfill(String id, Instant from, Instant to) {
        var schedule = get(id);
        var now = store().now();
        if (!from.isBefore(to) || to.isAfter(now)) {
            throw new InvalidArgument(
                    "Schedule %s: the window from %s to %s cannot be filled; it must begin before it ends and not end after now, %s."
                            .formatted(id, from, to, now));
        }
        var slots = Cron.of(schedule.cron(), schedule.zone())
                .between(from.minusNanos(1), to.minusNanos(1), MAX_BACKFILL + 1);
        if (slots.size() > MAX_BACKFILL) {
            throw new InvalidArgument(
                    "Schedule %s: the window from %s to %s has more than %d slots; fill it in smaller ones, such as up to %s."
                            .formatted(id, from, to, MAX_BACKFILL, slots.get(MAX_BACKFILL)));
        }
        var results = store().backfill(engine.namespace(), id, slots);
        if (results == null) {
            throw unknown(id);
        }
        return results.stream().map(result -> handle(id, result)).toList();
    }

    @Override
    public List<Instant> next(String id, int count) {
        var schedule = get(id);
        return preview(schedule.cron(), schedule.zone(), count);
    }

    @Override
    public List<Instant> preview(String cron, String zone, int count) {
        return Cron.of(cron, zone).after(store().now(), count);
    }

    @Override
    public Page<ScheduleFiring> firings(String id, int size) {
        return firings(id, size, null);
    }

    private Page<ScheduleFiring> firings(String id, int size, @Nullable Instant before) {
        var items = store().firings(engine.namespace(), id, before, size);
        if (items.size() < size) {
            return new Page<>(items, null);
        }
        var last = items.get(items.size() - 1).slot();
        return new Page<>(items, () -> firings(id, size, last));
    }

    private RunHandle<Object> handle(String id, TriggerResult result) {
        if (!result.accepted()) {
            throw refusal(id, result);
        }
        boolean existed = result.outcome() == TriggerResult.Outcome.EXISTED;
        return new StoredRun<>(engine, result.id(), TypeRef.of(Object.class), existed);
    }

    private SteadworkException refusal(String id, TriggerResult result) {
        var reason = "Schedule %s: %s".formatted(id, result.whyRefused(engine.namespace(), get(id).workflow()));
        return result.outcome() == TriggerResult.Outcome.KEY_OF_OTHER_TYPE
                ? new Conflict(reason)
                : new PreconditionFailed(reason);
    }

    private NotFound unknown(String id) {
        return new NotFound("There is no schedule %s in namespace %s.".formatted(id, engine.namespace()));
    }

    private ScheduleStore store() {
        return engine.store().schedules();
    }
}
