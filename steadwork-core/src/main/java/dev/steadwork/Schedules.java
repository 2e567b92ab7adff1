package dev.steadwork;

import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Runs that start by the clock. Schedules are kept in the database; every process that has a worker fires those that are due,
 * each slot once however many processes there are. While no worker runs anywhere nothing is fired, and the first one makes up
 * for what was missed, as {@link ScheduleSpec#maxCatchup} allows.
 *
 * <pre>{@code
 * steadwork.schedules().create("nightly", s -> s
 *         .workflow(REPORT).cron("0 2 * * *").zone("Europe/Berlin").input(config));
 * }</pre>
 *
 * <p>A run of a schedule has the external id {@code schedule-<id>}, and an idempotency key made of that and the slot. Safe for
 * use by several threads.
 */
public final class Schedules {
    /** The longest id of a schedule. */
    public static final int MAX_ID_LENGTH = 200;

    private static final int MAX_PREVIEW = 1_000;
    private static final int MAX_PAGE = 1_000;
    private static final int DEFAULT_PAGE = 50;

    private final Source source;

    /** Where schedules are kept. */
    public interface Source {
        ScheduleInfo create(String id, ScheduleSpec spec);

        ScheduleInfo get(String id);

        Page<ScheduleInfo> page(int size);

        ScheduleInfo update(String id, Function<ScheduleInfo, ScheduleSpec> change);

        void delete(String id);

        RunHandle<Object> trigger(String id);

        List<RunHandle<Object>> backfill(String id, Instant from, Instant to);

        List<Instant> next(String id, int count);

        List<Instant> preview(String cron, String zone, int count);

        Page<ScheduleFiring> firings(String id, int size);
    }

    Schedules(Source source) {
        this.source = source;
    }

    /**
     * Creates a schedule. Its first slot is the first one from now on.
     *
     * @throws Conflict if the id is taken
     * @throws InvalidArgument if the cron expression or the zone is not one, or the cron expression never matches
     * @throws PreconditionFailed if nobody registered the workflow
     */
    public ScheduleInfo create(String id, Consumer<ScheduleSpec> settings) {
        Check.notNull("settings", settings);
        var spec = new ScheduleSpec();
        settings.accept(spec);
        return source.create(id(id), spec);
    }

    /**
     * A schedule by its id.
     *
     * @throws NotFound if there is none
     */
    public ScheduleInfo get(String id) {
        return source.get(id(id));
    }

    /** All schedules of the namespace, by id. */
    public List<ScheduleInfo> list() {
        var all = new ArrayList<ScheduleInfo>();
        for (var page = page(MAX_PAGE); ; page = page.next()) {
            all.addAll(page.items());
            if (!page.hasNext()) {
                return List.copyOf(all);
            }
        }
    }

    /** The first page of at most this many schedules (1 to 1000), by id. */
    public Page<ScheduleInfo> page(int size) {
        return source.page(between("page size", size, MAX_PAGE));
    }

    /**
     * Changes a schedule: what the settings do not mention stays as it is. With another cron expression or zone its next slot
     * is the first one from now on. The settings may be asked for again if somebody else changes the schedule meanwhile.
     *
     * @throws NotFound if there is none
     * @throws InvalidArgument if the cron expression or the zone is not one, or the cron expression never matches
     */
    public ScheduleInfo update(String id, Consumer<ScheduleSpec> settings) {
        Check.notNull("settings", settings);
        return source.update(id(id), present -> {
            var spec = new ScheduleSpec(present);
            settings.accept(spec);
            return spec;
        });
    }

    /** Lets a schedule fire, from its first slot from now on: what passed while it was disabled is not made up for. */
    public ScheduleInfo enable(String id) {
        return update(id, spec -> spec.enabled(true));
    }

    /** Lets a schedule fire no more until it is enabled. A slot that waits for the end of a run is skipped. */
    public ScheduleInfo disable(String id) {
        return update(id, spec -> spec.enabled(false));
    }

    /**
     * Deletes a schedule. Its runs go on, and what became of its slots can still be read.
     *
     * @throws NotFound if there is none
     */
    public void delete(String id) {
        source.delete(id(id));
    }

    /** Fires now, beside its slots, also if it is disabled or its last run has not ended. */
    public RunHandle<Object> trigger(String id) {
        return source.trigger(id(id));
    }

    /**
     * Fires the slots of a window of the past, in order and in one transaction. A slot that was fired before is not fired
     * again; whether others run meanwhile does not matter.
     *
     * @param from the first time that belongs to the window
     * @param to the first time after it
     * @return the runs that were created
     * @throws InvalidArgument if the window is empty, reaches into the future or has more than 1000 slots
     */
    public List<RunHandle<Object>> backfill(String id, Instant from, Instant to) {
        return source.backfill(id(id), Check.time("from", from), Check.time("to", to));
    }

    /** The next slots of a schedule (1 to 1000), whether or not it is enabled; jitter comes on top. */
    public List<Instant> next(String id, int count) {
        return source.next(id(id), between("count", count, MAX_PREVIEW));
    }

    /** The next times (1 to 1000) that a cron expression matches in a zone. */
    public List<Instant> preview(String cron, String zone, int count) {
        return source.preview(Check.name("cron", cron), Check.name("zone", zone), between("count", count, MAX_PREVIEW));
    }

    /** The next times (1 to 1000) that a cron expression matches in a zone. */
    public List<Instant> preview(String cron, ZoneId zone, int count) {
        return preview(cron, Check.notNull("zone", zone).getId(), count);
    }

    /** What became of the slots of a schedule, newest first, 50 per page; also if it was deleted. */
    public Page<ScheduleFiring> firings(String id) {
        return firings(id, DEFAULT_PAGE);
    }

    /** What became of the slots of a schedule, newest first, so many per page (1 to 1000); also if it was deleted. */
    public Page<ScheduleFiring> firings(String id, int size) {
        return source.firings(id(id), between("page size", size, MAX_PAGE));
    }

    private static String id(String id) {
        var name = Check.name("schedule id", id);
        if (name.length() > MAX_ID_LENGTH) {
            throw new InvalidArgument("schedule id has %d characters, at most %d are allowed: %s..."
                    .formatted(name.length(), MAX_ID_LENGTH, name.substring(0, 40)));
        }
        return name;
    }

    private static int between(String what, int value, int max) {
        if (value < 1 || value > max) {
            throw new InvalidArgument("%s is %d; allowed is 1 to %d.".formatted(what, value, max));
        }
        return value;
    }
}
