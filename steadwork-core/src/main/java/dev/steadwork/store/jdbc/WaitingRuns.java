package dev.steadwork.store.jdbc;

import dev.steadwork.QueueLimit;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.StepKind;
import dev.steadwork.Waiting;
import dev.steadwork.Waiting.Reason;
import dev.steadwork.WorkerInfo;
import dev.steadwork.WorkerStatus;
import dev.steadwork.Workers;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/** Finds out what a run waits for. */
final class WaitingRuns {
    /** How many runs that come first are counted. */
    private static final int COUNTED = 10_000;

    private final Database database;
    private final Reads reads;
    private final Namespaces namespaces;
    private final WorkerRegistry workers;
    private final Limits limits;
    private final Duration staleAfter;

    WaitingRuns(
            Database database,
            Reads reads,
            Namespaces namespaces,
            WorkerRegistry workers,
            Limits limits,
            Duration staleAfter) {
        this.database = database;
        this.reads = reads;
        this.namespaces = namespaces;
        this.workers = workers;
        this.limits = limits;
        this.staleAfter = staleAfter;
    }

    /** Null if there is no such run. */
    @Nullable
    Waiting of(RunId id) {
        var run = reads.find(id);
        if (run == null) {
            return null;
        }
        if (run.times().deleted() != null) {
            return waiting(Reason.DELETED, "It was deleted (%s); no worker takes it.".formatted(run.deletedReason()));
        }
        return switch (run.status()) {
            case COMPLETED, FAILED, CANCELLED ->
                waiting(Reason.ENDED, "It has ended and is %s.".formatted(run.status()));
            case PAUSED ->
                waiting(
                        Reason.PAUSED,
                        "It was paused at %s. Let it go on with resume()."
                                .formatted(run.times().paused()));
            case RUNNING -> running(run);
            case SLEEPING -> sleeping(run);
            case PENDING -> pending(run);
        };
    }

    private static Waiting waiting(Reason reason, String sentence) {
        return new Waiting(reason, sentence, null);
    }

    private Waiting running(RunInfo run) {
        var leaseEnd = run.times().due();
        var worker = run.lease().worker();
        if (leaseEnd != null && leaseEnd.isBefore(now())) {
            return waiting(
                    Reason.WORKER_LOST,
                    "Worker %s has not been heard of since before its lease ended at %s. A worker that reads queue %s takes the run over within its poll interval; start one if there is none."
                            .formatted(worker, leaseEnd, run.queue()));
        }
        var step = run.runningStep();
        var doing = step == null ? "" : ", step %s since %s".formatted(step.name(), step.since());
        return waiting(Reason.EXECUTING, "Worker %s executes it%s.".formatted(worker, doing));
    }

    private Instant now() {
        return database.read(database::now);
    }

    private Waiting sleeping(RunInfo run) {
        var until = run.times().due();
        var awaits = database.read(handle -> awaits(handle, run.id())).orElse(null);
        if (awaits != null) {
            return awaiting(awaits, until);
        }
        if (run.startedAt() == null) {
            return new Waiting(Reason.START_TIME, "It starts at %s.".formatted(until), until);
        }
        var sleep = database.read(handle -> sleep(handle, run.id(), until)).orElse(null);
        if (sleep != null) {
            return new Waiting(Reason.SLEEP, "It sleeps (%s) until %s.".formatted(sleep, until), until);
        }
        var error = run.lastError();
        return new Waiting(
                Reason.RETRY,
                "It is tried again at %s%s.".formatted(until, error == null ? "" : "; the last error was: " + error),
                until);
    }

    private static Waiting awaiting(String awaits, @Nullable Instant until) {
        var atTheLatest = until == null ? "" : ", at the latest until %s".formatted(until);
        var name = awaits.substring(awaits.indexOf(':') + 1);
        if (awaits.startsWith("signal:")) {
            return new Waiting(
                    Reason.SIGNAL,
                    "It waits for the signal %s%s. Send it with run.signal(...).".formatted(name, atTheLatest),
                    until);
        }
        if (awaits.startsWith("child:")) {
            return new Waiting(
                    Reason.CHILD,
                    "It waits for the child of its step %s%s; steps() has the child's id.".formatted(name, atTheLatest),
                    until);
        }
        return new Waiting(
                Reason.ANY,
                "It waits for any of several signals, children or steps%s; steps() shows them.".formatted(atTheLatest),
                until);
    }

    private Optional<String> awaits(Handle handle, RunId run) {
        var sql = """
                SELECT awaits
                  FROM steadwork.run
                 WHERE shard = :shard
                   AND run_id = :run
                   AND awaits IS NOT NULL
                """;
        return ofRun(handle, sql, run).mapTo(String.class).findOne();
    }

    private Optional<String> sleep(Handle handle, RunId run, @Nullable Instant until) {
        var sql = """
                SELECT name
                  FROM steadwork.step
                 WHERE shard = :shard
                   AND run_id = :run
                   AND kind = :kind
                   AND wake_at >= :until
                 ORDER BY position DESC
                 LIMIT 1
                """;
        return ofRun(handle, sql, run)
                .bind("kind", StepKind.SLEEP.name())
                .bindByType("until", until, Instant.class)
                .mapTo(String.class)
                .findOne();
    }

    private Query ofRun(Handle handle, String sql, RunId run) {
        return handle.createQuery(database.sql(sql))
                .bind("shard", Shards.of(run))
                .bind("run", run);
    }

    private Waiting pending(RunInfo run) {
        var disabledAt = namespaces.find(run.namespace()).disabledAt();
        if (disabledAt != null) {
            return waiting(
                    Reason.NAMESPACE_DISABLED,
                    "Namespace %s is disabled since %s. Enable it with namespaces().enable(...)."
                            .formatted(run.namespace(), disabledAt));
        }
        var serving = serving(run);
        if (serving.isEmpty()) {
            return waiting(Reason.NO_WORKER, noWorker(run));
        }
        var held = limits.all(run.namespace()).get(run.queue());
        var limit = held == null ? null : reached(run, held);
        if (limit != null) {
            return limit;
        }
        return inLine(run, serving);
    }

    /** The workers that would take it. */
    private List<WorkerInfo> serving(RunInfo run) {
        var freshSince = now().minus(staleAfter);
        var online = new Workers.Filter(run.queue(), WorkerStatus.ONLINE, Map.of());
        return workers.list(run.namespace(), online, null, Integer.MAX_VALUE).stream()
                .filter(worker -> worker.heartbeatAt().isAfter(freshSince))
                .filter(worker -> serves(worker, run))
                .toList();
    }

    private static boolean serves(WorkerInfo worker, RunInfo run) {
        var type = run.type();
        boolean byType = worker.typePrefixes().isEmpty()
                ? worker.types().contains(type)
                : worker.typePrefixes().stream().anyMatch(type::startsWith);
        var version = run.version();
        return byType
                && (worker.versions().isEmpty()
                        || (version != null && worker.versions().contains(version)));
    }

    private String noWorker(RunInfo run) {
        var any = workers.list(run.namespace(), new Workers.Filter(null, null, Map.of()), null, Integer.MAX_VALUE);
        long draining = any.stream()
                .filter(worker -> worker.status() == WorkerStatus.DRAINING)
                .filter(worker -> worker.queues().contains(run.queue()))
                .count();
        return "No worker that is online takes workflow %s%s from queue %s%s. Start one."
                .formatted(
                        run.type(),
                        run.version() == null ? "" : " in version " + run.version(),
                        run.queue(),
                        draining == 0 ? "" : " (%d that read the queue are draining)".formatted(draining));
    }

    private @Nullable Waiting reached(RunInfo run, QueueLimit limit) {
        var concurrency = limit.concurrency();
        var perKey = limit.perKey();
        var key = run.concurrencyKey();
        if (concurrency != null) {
            long running = limits.running(run.namespace(), run.queue(), null);
            if (running >= concurrency) {
                return waiting(
                        Reason.QUEUE_LIMIT,
                        "The limit of queue %s is reached: %d of %d runs execute."
                                .formatted(run.queue(), running, concurrency));
            }
        }
        if (perKey != null && key != null) {
            long running = limits.running(run.namespace(), run.queue(), key);
            if (running >= perKey) {
                return waiting(
                        Reason.QUEUE_LIMIT,
                        "The limit per key of queue %s is reached: %d of %d runs of key %s execute."
                                .formatted(run.queue(), running, perKey, key));
            }
        }
        var rate = limit.rate();
        if (rate != null) {
            long starts = limits.starts(run.namespace(), run.queue(), rate.period());
            if (starts >= rate.starts()) {
                return waiting(
                        Reason.QUEUE_LIMIT,
                        "The rate of queue %s is used up: %d of %d starts within %s."
                                .formatted(run.queue(), starts, rate.starts(), rate.period()));
            }
        }
        return null;
    }

    private Waiting inLine(RunInfo run, List<WorkerInfo> serving) {
        long ahead = database.read(handle -> ahead(handle, run));
        var line = ahead == 0
                ? "It is the first in queue %s".formatted(run.queue())
                : "%s%d others in queue %s come first"
                        .formatted(ahead >= COUNTED ? "At least " : "", ahead, run.queue());
        int slots = serving.stream().mapToInt(WorkerInfo::concurrency).sum();
        int active = serving.stream().mapToInt(WorkerInfo::active).sum();
        if (active >= slots) {
            return waiting(
                    Reason.WORKERS_BUSY,
                    "%s, and the %d workers that take workflow %s execute %d of at most %d runs. Start more, or raise their concurrency."
                            .formatted(line, serving.size(), run.type(), active, slots));
        }
        if (ahead > 0) {
            return waiting(
                    Reason.BEHIND_OTHERS,
                    "%s; %d workers take workflow %s.".formatted(line, serving.size(), run.type()));
        }
        var since = run.times().due();
        return waiting(
                Reason.ABOUT_TO_START,
                "%s, ready since %s, and %d workers take workflow %s: one is about to."
                        .formatted(
                                line,
                                since == null ? "now" : since.truncatedTo(ChronoUnit.MILLIS),
                                serving.size(),
                                run.type()));
    }

    /** Looks at the front of the queue only: behind a long backlog it is one of many. */
    private long ahead(Handle handle, RunInfo run) {
        return ofRun(handle, database.dialect().queues().countAhead(), run.id())
                .bind("namespace", run.namespace())
                .bind("queue", run.queue())
                .bind("priority", run.priority())
                .bindByType("due", run.times().due(), Instant.class)
                .bind("limit", COUNTED)
                .mapTo(Long.class)
                .one();
    }
}
