package dev.steadwork.maintain;

import dev.steadwork.OverlapPolicy;
import dev.steadwork.ScheduleFiring.Outcome;
import dev.steadwork.store.DueSchedule;
import dev.steadwork.store.FirePlan;
import dev.steadwork.store.FirePlan.Decision;
import dev.steadwork.store.NextSlot;
import dev.steadwork.store.ScheduleSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/** Decides which slots of a schedule are fired, and when the next one is due. */
public final class SlotPlanner implements FirePlan.Planner {
    /** Slots of one schedule that are decided on in one transaction; the others follow at once. */
    private static final int MAX_SLOTS = 100;

    private static final Duration LONGEST_LATENESS = Duration.ofMinutes(1);
    private static final int MAX_KEPT = 10_000;

    private final Map<String, Cron> crons = new ConcurrentHashMap<>();

    /** The first slot after this time. */
    public NextSlot next(String id, ScheduleSettings settings, Instant time) {
        return nextSlot(id, settings, cron(settings).after(time));
    }

    /** This slot as the next one. */
    public NextSlot nextSlot(String id, ScheduleSettings settings, @Nullable Instant slot) {
        return slot == null ? NextSlot.NONE : new NextSlot(slot, due(id, settings, slot));
    }

    @Override
    public FirePlan plan(DueSchedule schedule, Instant now) {
        var id = schedule.id();
        var settings = schedule.settings();
        var cron = cron(settings);
        var first = schedule.nextSlot();
        var passed = first == null ? List.<Instant>of() : passed(cron, id, settings, first, now);
        int due = 0;
        while (due < passed.size()
                && due < MAX_SLOTS
                && !due(id, settings, passed.get(due)).isAfter(now)) {
            due++;
        }
        var next = due < passed.size() ? passed.get(due) : following(cron, first, now);
        boolean more = due == MAX_SLOTS
                && due < passed.size()
                && !due(id, settings, passed.get(due)).isAfter(now);
        return decide(schedule, passed.subList(0, due), more, nextSlot(id, settings, next));
    }

    private static @Nullable Instant following(Cron cron, @Nullable Instant first, Instant now) {
        return first != null && first.isAfter(now) ? first : cron.after(now);
    }

    /**
     * The earliest of the slots whose time has come that are to be fired. Those younger than the jitter are not missed: nobody
     * may have been allowed to fire them yet.
     */
    private List<Instant> passed(Cron cron, String id, ScheduleSettings settings, Instant first, Instant now) {
        int maxCatchup = settings.rules().maxCatchup();
        var before = first.minusSeconds(1);
        var youngest = now.minus(settings.rules().jitter());
        var missed = cron.latest(before, youngest, Math.max(1, maxCatchup));
        boolean gone = maxCatchup == 0 && !missed.isEmpty() && isLate(cron, id, settings, missed.get(0), now);
        var passed = new ArrayList<Instant>(gone ? List.of() : missed);
        passed.addAll(cron.between(before.isAfter(youngest) ? before : youngest, now, MAX_SLOTS + 1));
        return passed;
    }

    /** A slot is in time until half of the time to the next one has gone, and a minute at most. */
    private boolean isLate(Cron cron, String id, ScheduleSettings settings, Instant slot, Instant now) {
        var next = cron.after(slot);
        var half =
                next == null ? LONGEST_LATENESS : Duration.between(slot, next).dividedBy(2);
        var allowed = half.compareTo(LONGEST_LATENESS) < 0 ? half : LONGEST_LATENESS;
        return now.isAfter(due(id, settings, slot).plus(allowed));
    }

    /** @param more whether others are due that are decided on later */
    private static FirePlan decide(DueSchedule schedule, List<Instant> due, boolean more, NextSlot next) {
        var overlap = schedule.settings().rules().overlap();
        var decisions = new ArrayList<Decision>();
        boolean active = schedule.active();
        var buffered = schedule.bufferedSlot();
        if (buffered != null && !active) {
            decisions.add(new Decision(buffered, Outcome.FIRED));
            buffered = null;
            active = true;
        }
        for (int i = 0; i < due.size(); i++) {
            boolean newest = i == due.size() - 1 && !more;
            var outcome = switch (overlap) {
                case ALLOW -> Outcome.FIRED;
                case SKIP -> active ? Outcome.SKIPPED : Outcome.FIRED;
                case BUFFER_ONE -> !active ? Outcome.FIRED : buffered == null ? Outcome.BUFFERED : Outcome.SKIPPED;
                case CANCEL_RUNNING -> newest ? Outcome.FIRED : Outcome.SKIPPED;
            };
            decisions.add(new Decision(due.get(i), outcome));
            active |= outcome == Outcome.FIRED;
            buffered = outcome == Outcome.BUFFERED ? due.get(i) : buffered;
        }
        boolean cancelsLast = overlap == OverlapPolicy.CANCEL_RUNNING && schedule.active() && !due.isEmpty() && !more;
        return new FirePlan(decisions, next, buffered, cancelsLast);
    }

    private static Instant due(String id, ScheduleSettings settings, Instant slot) {
        long jitter = settings.rules().jitter().toNanos() / 1_000;
        if (jitter == 0) {
            return slot;
        }
        var hash = new CRC32();
        hash.update((id + '@' + slot.getEpochSecond()).getBytes(StandardCharsets.UTF_8));
        return slot.plus(new SplittableRandom(hash.getValue()).nextLong(jitter), ChronoUnit.MICROS);
    }

    /** Reading an expression takes longer than using it. */
    private Cron cron(ScheduleSettings settings) {
        if (crons.size() > MAX_KEPT) {
            crons.clear();
        }
        return crons.computeIfAbsent(
                settings.zone() + ' ' + settings.cron(), key -> Cron.of(settings.cron(), settings.zone()));
    }
}
