package dev.steadwork;

import java.time.Instant;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A list of runs, newest first. Immutable; every filter returns a narrower copy.
 *
 * <pre>{@code
 * for (var page = steadwork.runs().status(FAILED).type("checkout").page(50); ; page = page.next()) {
 *     page.items().forEach(run -> System.out.println(run.id() + " " + run.lastError()));
 *     if (!page.hasNext()) break;
 * }
 * }</pre>
 *
 * <p>All that match can be changed at once, after a look at how many they are:
 *
 * <pre>{@code
 * var broken = steadwork.runs().status(FAILED).type("checkout").errorContains("connection refused");
 * System.out.println(broken.count());
 * System.out.println(broken.retryAll());
 * }</pre>
 *
 * <p>{@link #cancelAll()}, {@link #retryAll()} and {@link #deleteAll} go from the newest run to the oldest, a hundred per
 * transaction, and look at each run once: one that matches again after its change, or that is created meanwhile, is left
 * alone. A run counts as matching if it did when its hundred was read. If one of them ends with an error, what was changed
 * before stays changed; calling it again does the rest.
 */
public final class RunQuery implements Cloneable {
    private Source source;
    private Set<RunStatus> statuses = Set.of();
    private @Nullable String type;
    private @Nullable String queue;
    private Map<String, String> tags = Map.of();
    private @Nullable String externalId;
    private @Nullable Instant createdAfter;
    private @Nullable Instant createdBefore;
    private @Nullable RunId parent;
    private @Nullable String errorText;
    private boolean withDeleted;

    /** What a run must match; null or empty means: any. */
    public record Filter(
            Set<RunStatus> statuses,
            @Nullable String type,
            @Nullable String queue,
            Map<String, String> tags,
            @Nullable String externalId,
            @Nullable Instant createdAfter,
            @Nullable Instant createdBefore,
            @Nullable RunId parent,
            @Nullable String errorText,
            boolean withDeleted) {

        /** Whether every run that is not deleted matches. */
        public boolean matchesAll() {
            return statuses.isEmpty()
                    && type == null
                    && queue == null
                    && tags.isEmpty()
                    && externalId == null
                    && createdAfter == null
                    && createdBefore == null
                    && parent == null
                    && errorText == null;
        }

        /** The same, but in one of these statuses. */
        public Filter in(Set<RunStatus> these) {
            return new Filter(
                    these, type, queue, tags, externalId, createdAfter, createdBefore, parent, errorText, withDeleted);
        }
    }

    /** Where the runs come from. */
    public interface Source {
        Page<RunInfo> page(Filter filter, int size);

        long count(Filter filter);

        long cancelAll(Filter filter);

        long retryAll(Filter filter);

        long deleteAll(Filter filter, String reason);

        Source by(String actor, @Nullable String reason);
    }

    RunQuery(Source source) {
        this.source = source;
    }

    /** In one of these statuses. */
    public RunQuery status(RunStatus first, RunStatus... more) {
        return changed(q -> q.statuses = EnumSet.of(Check.notNull("status", first), more));
    }

    /** Of this workflow. */
    public RunQuery type(String name) {
        return changed(q -> q.type = Check.name("type", name));
    }

    /** In this queue. */
    public RunQuery queue(String name) {
        return changed(q -> q.queue = Check.name("queue", name));
    }

    /** With this tag; several must all be there. */
    public RunQuery tag(String key, String value) {
        return changed(q -> {
            var all = new TreeMap<>(q.tags);
            all.put(Check.name("tag key", key), Check.text("value of tag " + key, value));
            q.tags = Map.copyOf(all);
        });
    }

    /** With this external id. */
    public RunQuery externalId(String id) {
        return changed(q -> q.externalId = Check.name("externalId", id));
    }

    /** Created at this time or later. */
    public RunQuery createdAfter(Instant time) {
        return changed(q -> q.createdAfter = Check.time("createdAfter", time));
    }

    /** Created before this time. */
    public RunQuery createdBefore(Instant time) {
        return changed(q -> q.createdBefore = Check.time("createdBefore", time));
    }

    /** Started by this run. */
    public RunQuery parent(RunId run) {
        return changed(q -> q.parent = Check.notNull("parent", run));
    }

    /** Whose error contains this text; upper and lower case ASCII letters are the same. */
    public RunQuery errorContains(String text) {
        return changed(q -> q.errorText = Check.name("error text", text));
    }

    /** Deleted runs too. */
    public RunQuery withDeleted() {
        return changed(q -> q.withDeleted = true);
    }

    /** The first page of at most this many runs (1 to 1000). */
    public Page<RunInfo> page(int size) {
        if (size < 1 || size > 1000) {
            throw new InvalidArgument("page size is %d; allowed is 1 to 1000.".formatted(size));
        }
        return source.page(filter(), size);
    }

    /** How many runs match. Reads them all: fine for rare statuses, slow over millions of finished runs. */
    public long count() {
        return source.count(filter());
    }

    /**
     * Cancels all runs that match and have not ended, as {@link RunHandle#cancel()} does.
     *
     * @return how many were cancelled, or asked to end because they were running
     * @throws InvalidArgument if there is no filter
     */
    public long cancelAll() {
        return source.cancelAll(narrowed("cancelAll"));
    }

    /**
     * Retries all runs that match and are FAILED or CANCELLED, as {@link RunHandle#retry()} does. Those whose idempotency key
     * another run has now are left as they are.
     *
     * @return how many were started again
     * @throws InvalidArgument if there is no filter
     */
    public long retryAll() {
        return source.retryAll(narrowed("retryAll"));
    }

    /**
     * Deletes all runs that match, whatever their status, as {@link RunHandle#delete} does.
     *
     * @return how many were deleted
     * @throws InvalidArgument if there is no filter
     */
    public long deleteAll(String reason) {
        return source.deleteAll(narrowed("deleteAll"), Check.name("reason", reason));
    }

    /**
     * With who asks and why: what is asked of the runs carries both in their {@link RunHandle#events()}.
     *
     * @param reason null if there is none to tell
     */
    public RunQuery by(String actor, @Nullable String reason) {
        return changed(q -> q.source = q.source.by(actor, reason));
    }

    /** Nobody changes every run by forgetting a filter. */
    private Filter narrowed(String asked) {
        var filter = filter();
        if (filter.matchesAll()) {
            throw new InvalidArgument(
                    "%s has no filter and would change every run of the namespace. Add one first, such as status(...), type(...) or createdBefore(...)."
                            .formatted(asked));
        }
        return filter;
    }

    private Filter filter() {
        return new Filter(
                statuses, type, queue, tags, externalId, createdAfter, createdBefore, parent, errorText, withDeleted);
    }

    private RunQuery changed(Consumer<RunQuery> change) {
        try {
            var copy = (RunQuery) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
