package dev.steadwork.maintain;

import com.cronutils.model.definition.CronDefinition;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import dev.steadwork.InvalidArgument;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The times that a cron expression names in a time zone, its slots. The expression is matched with local times, which have no
 * gaps and folds; here these become instants.
 *
 * <p>With fixed hours, a local time that the clock skips is the end of the gap, and one that it shows twice is the first. If
 * the expression matches in every hour, a slot is any instant at which the clock shows a matching time: it follows the time that
 * passes.
 */
public final class Cron {
    private static final Map<String, String> FORMS = Map.of(
            "@hourly", "0 * * * *",
            "@daily", "0 0 * * *",
            "@midnight", "0 0 * * *",
            "@weekly", "0 0 * * 0",
            "@monthly", "0 0 1 * *",
            "@yearly", "0 0 1 1 *",
            "@annually", "0 0 1 1 *");

    private static final CronParser FIVE_FIELDS = new CronParser(definition(false));
    private static final CronParser SIX_FIELDS = new CronParser(definition(true));
    private static final int HOURS = 24;

    /** So many times the slots asked for are read rather than to look for a better place to begin. */
    private static final int ENOUGH = 4;

    private final ExecutionTime times;
    private final ZoneRules zone;
    private final boolean matchesEveryHour;

    private Cron(ExecutionTime times, ZoneRules zone, boolean matchesEveryHour) {
        this.times = times;
        this.zone = zone;
        this.matchesEveryHour = matchesEveryHour;
    }

    /** @throws InvalidArgument if it is no cron expression, or the zone is none */
    public static Cron of(String expression, String zone) {
        var rules = rules(zone);
        var fields = fields(expression);
        var parser = fields.size() == 5 ? FIVE_FIELDS : SIX_FIELDS;
        try {
            var times = ExecutionTime.forCron(parser.parse(String.join(" ", fields)));
            return new Cron(times, rules, matchesEveryHour(fields.get(fields.size() - 4)));
        } catch (IllegalArgumentException e) {
            throw new InvalidArgument("cron is '%s', which cannot be read: %s".formatted(expression, e.getMessage()));
        }
    }

    private static CronDefinition definition(boolean withSeconds) {
        var fields = CronDefinitionBuilder.defineCron();
        if (withSeconds) {
            fields.withSeconds().withStrictRange().and();
        }
        return fields.withMinutes()
                .withStrictRange()
                .and()
                .withHours()
                .withStrictRange()
                .and()
                .withDayOfMonth()
                .supportsL()
                .supportsW()
                .supportsLW()
                .withStrictRange()
                .and()
                .withMonth()
                .withStrictRange()
                .and()
                .withDayOfWeek()
                .withValidRange(0, 7)
                .withMondayDoWValue(1)
                .withIntMapping(7, 0)
                .supportsHash()
                .supportsL()
                .withStrictRange()
                .and()
                .instance();
    }

    private static ZoneRules rules(String zone) {
        try {
            return ZoneId.of(zone).getRules();
        } catch (DateTimeException e) {
            throw new InvalidArgument(
                    "zone is '%s', which is no time zone; give one such as Europe/Berlin, UTC or +02:00."
                            .formatted(zone));
        }
    }

    private static List<String> fields(String expression) {
        var trimmed = expression.trim();
        var form = FORMS.get(trimmed);
        var fields = new ArrayList<>(List.of((form == null ? trimmed : form).split("\\s+")));
        if (fields.size() != 5 && fields.size() != 6) {
            throw new InvalidArgument(
                    "cron is '%s'; it must have 5 fields (minute hour day-of-month month day-of-week), 6 fields with the second first, or be one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually."
                            .formatted(expression));
        }
        // "No matter which", as some write for one of the two kinds of days.
        fields.replaceAll(field -> field.equals("?") ? "*" : field);
        return fields;
    }

    private static boolean matchesEveryHour(String hours) {
        if (hours.equals("*")) {
            return true;
        }
        var hourly = ExecutionTime.forCron(FIVE_FIELDS.parse("0 " + hours + " * * *"));
        var dayBefore = LocalDateTime.of(2000, 1, 1, 23, 59).atZone(ZoneOffset.UTC);
        var time = dayBefore;
        for (int i = 0; i < HOURS; i++) {
            time = hourly.nextExecution(time).orElseThrow();
        }
        return Duration.between(dayBefore, time).toHours() < HOURS;
    }

    /** The first slot after this time, or null if there is none any more. */
    public @Nullable Instant after(Instant time) {
        return matchesEveryHour ? nextByTheClock(time) : nextByTheCalendar(time);
    }

    /** Up to so many slots after this time. */
    public List<Instant> after(Instant time, int count) {
        return between(time, Instant.MAX, count);
    }

    /** Up to so many slots after a time and not after another, the earliest first. */
    public List<Instant> between(Instant after, Instant upTo, int count) {
        var slots = new ArrayList<Instant>();
        for (var slot = after(after); slot != null && !slot.isAfter(upTo); slot = after(slot)) {
            slots.add(slot);
            if (slots.size() == count) {
                break;
            }
        }
        return slots;
    }

    /**
     * The last slots after a time and not after another, up to so many, the earliest first. There may be millions of them: looks
     * back over twice the span until it has enough.
     */
    public List<Instant> latest(Instant after, Instant upTo, int count) {
        int enough = ENOUGH * count;
        long end = upTo.getEpochSecond();
        long tooLate = end;
        for (long span = count; end - span > after.getEpochSecond(); span *= 2) {
            var slots = between(Instant.ofEpochSecond(end - span), upTo, enough + 1);
            if (slots.size() > enough) {
                return latestOfMany(end - span, tooLate, upTo, count);
            }
            if (slots.size() >= count) {
                return last(slots, count);
            }
            tooLate = end - span;
        }
        var slots = between(after, upTo, enough + 1);
        return slots.size() > enough ? latestOfMany(after.getEpochSecond(), tooLate, upTo, count) : last(slots, count);
    }

    /** After one time there are too many slots, after the other too few. They are whole seconds, so some time between is right. */
    private List<Instant> latestOfMany(long tooEarly, long tooLate, Instant upTo, int count) {
        long early = tooEarly;
        long late = tooLate;
        while (true) {
            long middle = early + (late - early) / 2;
            var slots = between(Instant.ofEpochSecond(middle), upTo, ENOUGH * count + 1);
            if (slots.size() > ENOUGH * count) {
                early = middle;
            } else if (slots.size() >= count) {
                return last(slots, count);
            } else {
                late = middle;
            }
        }
    }

    private static List<Instant> last(List<Instant> slots, int count) {
        return slots.subList(Math.max(0, slots.size() - count), slots.size());
    }

    /** From one change of the clock to the next, local times and instants go side by side. */
    private @Nullable Instant nextByTheClock(Instant time) {
        var from = time;
        var local = LocalDateTime.ofInstant(time, zone.getOffset(time));
        while (true) {
            var offset = zone.getOffset(from);
            var match = nextLocal(local);
            if (match == null) {
                return null;
            }
            var slot = match.toInstant(offset);
            var change = zone.nextTransition(from);
            if (change == null || slot.isBefore(change.getInstant())) {
                return slot;
            }
            from = change.getInstant();
            local = change.getDateTimeAfter().minusSeconds(1);
        }
    }

    private @Nullable Instant nextByTheCalendar(Instant time) {
        var local = LocalDateTime.ofInstant(time, zone.getOffset(time));
        for (var match = nextLocal(local); match != null; match = nextLocal(match)) {
            var slot = instantOf(match);
            if (slot.isAfter(time)) {
                return slot;
            }
        }
        return null;
    }

    private Instant instantOf(LocalDateTime local) {
        var offsets = zone.getValidOffsets(local);
        return offsets.isEmpty() ? zone.getTransition(local).getInstant() : local.toInstant(offsets.get(0));
    }

    private @Nullable LocalDateTime nextLocal(LocalDateTime local) {
        return times.nextExecution(local.truncatedTo(ChronoUnit.SECONDS).atZone(ZoneOffset.UTC))
                .map(match -> match.toLocalDateTime())
                .orElse(null);
    }
}
