package dev.steadwork;

import java.time.Instant;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A list of runs, newest first. Immutable; every filter returns a narrower copy.
 *
 * <pre>{@code
 * for (var page = steadwork.runs().status(FAILED).type("checkout").page(50); ; page = page.next()) {
 *     page.items().forEach(run -> run.retry());
 *     if (!page.hasNext()) break;
 * }
 * }</pre>
 */
public final class RunQuery {
    private final Source source;
    private final Filter filter;

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
        static final Filter ALL = new Filter(Set.of(), null, null, Map.of(), null, null, null, null, null, false);
    }

    /** Where the runs come from. */
    public interface Source {
        Page<RunInfo> page(Filter filter, int size);

        long count(Filter filter);
    }

    RunQuery(Source source, Filter filter) {
        this.source = source;
        this.filter = filter;
    }

    /** In one of these statuses. */
    public RunQuery status(RunStatus first, RunStatus... more) {
        var f = filter;
        return with(new Filter(
                EnumSet.of(first, more), f.type, f.queue, f.tags, f.externalId, f.createdAfter, f.createdBefore,
                f.parent, f.errorText, f.withDeleted));
    }

    /** Of this workflow. */
    public RunQuery type(String name) {
        var f = filter;
        return with(new Filter(
                f.statuses, Check.name("type", name), f.queue, f.tags, f.externalId, f.createdAfter, f.createdBefore,
                f.parent, f.errorText, f.withDeleted));
    }

    /** In this queue. */
    public RunQuery queue(String name) {
        var f = filter;
        return with(new Filter(
                f.statuses, f.type, Check.name("queue", name), f.tags, f.externalId, f.createdAfter, f.createdBefore,
                f.parent, f.errorText, f.withDeleted));
    }

    /** With this tag; several must all be there. */
    public RunQuery tag(String key, String value) {
        var f = filter;
        var tags = new TreeMap<>(f.tags);
        tags.put(Check.name("tag key", key), Check.text("value of tag " + key, value));
        return with(new Filter(
                f.statuses, f.type, f.queue, Map.copyOf(tags), f.externalId, f.createdAfter, f.createdBefore, f.parent,
                f.errorText, f.withDeleted));
    }

    /** With this external id. */
    public RunQuery externalId(String id) {
        var f = filter;
        return with(new Filter(
                f.statuses, f.type, f.queue, f.tags, Check.name("externalId", id), f.createdAfter, f.createdBefore,
                f.parent, f.errorText, f.withDeleted));
    }

    /** Created at this time or later. */
    public RunQuery createdAfter(Instant time) {
        var f = filter;
        return with(new Filter(
                f.statuses, f.type, f.queue, f.tags, f.externalId, Check.notNull("createdAfter", time),
                f.createdBefore, f.parent, f.errorText, f.withDeleted));
    }

    /** Created before this time. */
    public RunQuery createdBefore(Instant time) {
        var f = filter;
        return with(new Filter(
                f.statuses, f.type, f.queue, f.tags, f.externalId, f.createdAfter,
                Check.notNull("createdBefore", time), f.parent, f.errorText, f.withDeleted));
    }

    /** Started by this run. */
    public RunQuery parent(RunId run) {
        var f = filter;
        return with(new Filter(
                f.statuses, f.type, f.queue, f.tags, f.externalId, f.createdAfter, f.createdBefore,
                Check.notNull("parent", run), f.errorText, f.withDeleted));
    }

    /** Whose error contains this text; upper and lower case are the same for ASCII letters. */
    public RunQuery errorContains(String text) {
        var f = filter;
        return with(new Filter(
                f.statuses, f.type, f.queue, f.tags, f.externalId, f.createdAfter, f.createdBefore, f.parent,
                Check.name("error text", text), f.withDeleted));
    }

    /** Deleted runs too. */
    public RunQuery withDeleted() {
        var f = filter;
        return with(new Filter(
                f.statuses, f.type, f.queue, f.tags, f.externalId, f.createdAfter, f.createdBefore, f.parent,
                f.errorText, true));
    }

    /** The first page of at most this many runs (1 to 1000). */
    public Page<RunInfo> page(int size) {
        if (size < 1 || size > 1000) {
            throw new InvalidArgument("page size is %d; allowed is 1 to 1000.".formatted(size));
        }
        return source.page(filter, size);
    }

    /** How many runs match. Reads them all: fine for rare statuses, slow over millions of finished runs. */
    public long count() {
        return source.count(filter);
    }

    private RunQuery with(Filter narrower) {
        return new RunQuery(source, narrower);
    }
}
