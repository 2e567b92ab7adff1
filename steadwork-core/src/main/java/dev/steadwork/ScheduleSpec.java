package dev.steadwork;

import java.time.Duration;
import java.time.ZoneId;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What may be said about a schedule. {@code workflow} and {@code cron} must be given to a new one; when a schedule is updated,
 * all that is not mentioned stays as it is. Not safe for use by several threads.
 */
public final class ScheduleSpec {
    /** The longest {@link #jitter}. */
    public static final Duration MAX_JITTER = Duration.ofHours(24);

    /** The most that {@link #maxCatchup} may be. */
    public static final int MAX_CATCHUP = 1_000;

    private static final int DEFAULT_CATCHUP = 100;

    private @Nullable String workflow;
    private TriggerCheck check = TriggerCheck.REQUIRE_REGISTERED;
    private @Nullable String queue;
    private int priority;
    private @Nullable String version;
    private Map<String, String> tags = Map.of();
    private @Nullable String cron;
    private String zone = "UTC";
    private int maxCatchup = DEFAULT_CATCHUP;
    private OverlapPolicy overlap = OverlapPolicy.ALLOW;
    private Duration jitter = Duration.ZERO;
    private boolean enabled = true;
    private @Nullable Object input;
    private boolean hasInput;

    ScheduleSpec() {}

    /** The values of a schedule that is to be changed. */
    ScheduleSpec(ScheduleInfo present) {
        this.workflow = present.target().workflow();
        this.check = present.target().check();
        this.queue = present.target().queue();
        this.priority = present.target().priority();
        this.version = present.target().version();
        this.tags = present.target().tags();
        this.cron = present.cron();
        this.zone = present.zone();
        this.maxCatchup = present.rules().maxCatchup();
        this.overlap = present.rules().overlap();
        this.jitter = present.rules().jitter();
        this.enabled = present.enabled();
    }

    /** Triggers this workflow, with the trigger check that it demands. */
    public ScheduleSpec workflow(Workflow<?, ?> definition) {
        Check.notNull("workflow", definition);
        this.workflow = definition.name();
        this.check = definition.options().check();
        if (check == TriggerCheck.ACCEPT && queue == null) {
            // Nobody may have registered it, and then only the definition at hand knows its queue.
            this.queue = definition.options().queue();
        }
        return this;
    }

    /** Triggers the workflow of this name, which must be registered. */
    public ScheduleSpec workflow(String name) {
        this.workflow = Check.name("workflow name", name);
        return this;
    }

    /** What must be known of the workflow when the schedule fires. Default: that it is registered. */
    public ScheduleSpec check(TriggerCheck demanded) {
        this.check = Check.notNull("check", demanded);
        return this;
    }

    /**
     * When it fires: {@code minute hour day-of-month month day-of-week}, or six fields with the second first, or
     * {@code @hourly}, {@code @daily}, {@code @midnight}, {@code @weekly}, {@code @monthly}, {@code @yearly},
     * {@code @annually}. As in Unix, a day matches if it is one of the days of the month or one of the days of the week, when
     * both are given.
     */
    public ScheduleSpec cron(String expression) {
        this.cron = Check.name("cron", expression);
        return this;
    }

    /** The time zone in which the cron expression is read, such as {@code Europe/Berlin}. Default UTC. */
    public ScheduleSpec zone(String id) {
        this.zone = Check.name("zone", id);
        return this;
    }

    /** The time zone in which the cron expression is read. Default UTC. */
    public ScheduleSpec zone(ZoneId id) {
        this.zone = Check.notNull("zone", id).getId();
        return this;
    }

    /** The input of every run. Default: none. */
    public ScheduleSpec input(@Nullable Object value) {
        this.input = value;
        this.hasInput = true;
        return this;
    }

    /**
     * How many slots at most are made up for that passed while nobody was there to fire them: the most recent ones, in order.
     * Default 100, at most 1000. With 0 a slot that nobody could fire in time is gone.
     */
    public ScheduleSpec maxCatchup(int slots) {
        if (slots < 0 || slots > MAX_CATCHUP) {
            throw new InvalidArgument("maxCatchup is %d; allowed is 0 to %d.".formatted(slots, MAX_CATCHUP));
        }
        this.maxCatchup = slots;
        return this;
    }

    /** What happens to a slot while the run that was fired last has not ended. Default {@link OverlapPolicy#ALLOW}. */
    public ScheduleSpec overlap(OverlapPolicy policy) {
        this.overlap = Check.notNull("overlap", policy);
        return this;
    }

    /**
     * Fires each slot later by up to this much, so that many schedules of one time do not start together. How much is the
     * same for a slot whoever fires it. Default none, at most 24 hours.
     */
    public ScheduleSpec jitter(Duration upTo) {
        Check.notNegative("jitter", upTo);
        if (upTo.compareTo(MAX_JITTER) > 0) {
            throw new InvalidArgument("jitter is %s; at most %s is allowed.".formatted(upTo, MAX_JITTER));
        }
        this.jitter = upTo;
        return this;
    }

    /** Runs wait in this queue instead of the workflow's. */
    public ScheduleSpec queue(String name) {
        this.queue = Check.name("queue", name);
        return this;
    }

    /** Higher goes first; default 0. */
    public ScheduleSpec priority(int value) {
        this.priority = value;
        return this;
    }

    /** A searchable key and value of every run, beside those that were given before. */
    public ScheduleSpec tag(String key, String value) {
        var all = new TreeMap<>(tags);
        all.put(Check.name("tag key", key), Check.text("value of tag " + key, value));
        this.tags = Map.copyOf(all);
        return this;
    }

    /** All tags of every run, instead of those that were given before. */
    public ScheduleSpec tags(Map<String, String> all) {
        this.tags = Map.of();
        Check.notNull("tags", all).forEach(this::tag);
        return this;
    }

    /** The version of the code that its runs are meant for. */
    public ScheduleSpec version(String name) {
        this.version = Check.name("version", name);
        return this;
    }

    /** Whether it fires. Default true. */
    public ScheduleSpec enabled(boolean fires) {
        this.enabled = fires;
        return this;
    }

    /** What is triggered. */
    public ScheduleInfo.Target target() {
        return new ScheduleInfo.Target(given("workflow", workflow), check, queue, priority, version, tags);
    }

    public String cron() {
        return given("cron", cron);
    }

    public String zone() {
        return zone;
    }

    public ScheduleInfo.Rules rules() {
        return new ScheduleInfo.Rules(maxCatchup, overlap, jitter);
    }

    public boolean enabled() {
        return enabled;
    }

    /** Whether an input was given here; null may be one. */
    public boolean hasInput() {
        return hasInput;
    }

    public @Nullable Object input() {
        return input;
    }

    private static String given(String what, @Nullable String value) {
        if (value == null) {
            throw new InvalidArgument("The schedule has no %1$s; call %1$s(...).".formatted(what));
        }
        return value;
    }
}
