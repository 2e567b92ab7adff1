package dev.steadwork.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunQuery;
import dev.steadwork.RunStatus;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.Workflow;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What every group of rules speaks about: a store, a namespace of its own, and short words for common calls. */
interface StoreRules {
    String TYPE = "checkout";
    String WORKER = "worker-1";
    Duration LEASE = Duration.ofMinutes(5);
    Duration STALE_AFTER = Duration.ofSeconds(60);
    RunError ERROR = new RunError("java.io.IOException", "no route to host", null, "at a.b.C");

    Store store();

    /** A namespace that no other test uses. */
    String namespace();

    /** Another store on the same database, as another process would open it. */
    Store openAnother(Duration staleAfter);

    /** A connection of the application's own, with auto-commit off. */
    Connection connect() throws SQLException;

    /** A table's name as the database knows it. */
    String table(String name);

    default RunSpec aRun() {
        return new RunSpec(namespace(), TYPE);
    }

    default TriggerResult trigger(RunSpec run) {
        return trigger(run.build());
    }

    default TriggerResult trigger(NewRun run) {
        return (TriggerResult) store().write(List.of(new Write.Trigger(run))).get(0);
    }

    default RunId create(RunSpec run) {
        var result = trigger(run);
        assertThat(result.outcome()).isEqualTo(TriggerResult.Outcome.CREATED);
        return result.id();
    }

    default Ack write(Write.Fenced write) {
        return (Ack) store().write(List.of(write)).get(0);
    }

    default ClaimRequest claimOf(String queue, int limit) {
        return new ClaimRequest(namespace(), WORKER, List.of(queue), List.of(TYPE), List.of(), List.of(), limit, LEASE);
    }

    default List<RunId> claim(ClaimRequest request) {
        return store().claim(request).runs().stream().map(ClaimedRun::id).toList();
    }

    /** Creates a run and claims it. */
    default ClaimedRun running(RunSpec spec) {
        var run = create(spec);
        return claimOnly(run);
    }

    default ClaimedRun running() {
        return running(aRun());
    }

    default ClaimedRun claimOnly(RunId run) {
        var claimed = store().claim(claimOf(info(run).queue(), 100)).runs();
        assertThat(claimed).extracting(ClaimedRun::id).containsExactly(run);
        return claimed.get(0);
    }

    default Promotion promote() {
        return promote(List.of());
    }

    default Promotion promote(List<RunId> executing) {
        return store().promote(new PromoteRequest(namespace(), List.of(TYPE), executing, 100));
    }

    default RunInfo info(RunId run) {
        var info = store().find(run);
        assertThat(info).as("run %s", run).isNotNull();
        return info;
    }

    default RunStatus status(RunId run) {
        return info(run).status();
    }

    default Ack finish(ClaimedRun run, RunStatus status) {
        return write(new Write.Finish(
                run.id(), run.epoch(), status, Payload.NONE, status == RunStatus.FAILED ? ERROR : null, null));
    }

    default Ack park(ClaimedRun run, Write.Wake wake) {
        return write(new Write.Park(run.id(), run.epoch(), wake, null, null, run.attempt(), null));
    }

    default RunId ended(RunSpec spec, RunStatus status) {
        var run = running(spec);
        assertThat(finish(run, status)).isEqualTo(Ack.STORED);
        return run.id();
    }

    /** A run in any status. */
    default RunId in(RunStatus status) {
        return switch (status) {
            case PENDING -> create(aRun());
            case RUNNING -> running().id();
            case SLEEPING -> create(aRun().startAfter(Duration.ofHours(1)));
            case PAUSED -> {
                var run = create(aRun());
                store().pause(run);
                yield run;
            }
            case COMPLETED, FAILED, CANCELLED -> ended(aRun(), status);
        };
    }

    default void register(Workflow<?, ?>... workflows) {
        store().register(
                        namespace(),
                        List.of(workflows).stream().map(Definition::of).toList());
    }

    default void registerWorker(List<String> types, List<String> typePrefixes) {
        store().registerWorker(aWorker(WORKER, types, typePrefixes));
    }

    default WorkerRegistration aWorker(String id, List<String> types, List<String> typePrefixes) {
        return new WorkerRegistration(
                namespace(),
                id,
                "main",
                "localhost",
                42,
                List.of(TYPE),
                types,
                typePrefixes,
                List.of(),
                10,
                null,
                Map.of());
    }

    /** A filter that every run matches. */
    static RunQuery.Filter everything() {
        return new RunQuery.Filter(Set.of(), null, null, Map.of(), null, null, null, null, null, true);
    }

    static Payload json(String text) {
        return new Payload(text.getBytes(StandardCharsets.UTF_8), Payload.JSON);
    }

    static StepRecord step(String name, int position, String output) {
        return step(name, position, output, Instant.parse("2030-01-01T00:00:00.123456Z"));
    }

    static StepRecord step(String name, int position, String output, Instant startedAt) {
        return new StepRecord(
                new StepRecord.Key(name, 1, position),
                StepKind.FUNCTION,
                StepStatus.COMPLETED,
                1,
                Payload.NONE,
                json(output),
                null,
                startedAt,
                startedAt.plusSeconds(1),
                null);
    }

    static StepRecord failedStep(String name, int position) {
        return new StepRecord(
                new StepRecord.Key(name, 1, position),
                StepKind.FUNCTION,
                StepStatus.FAILED,
                2,
                Payload.NONE,
                Payload.NONE,
                ERROR,
                null,
                null,
                null);
    }

    static StepRecord sleepStep(String name, int position) {
        return new StepRecord(
                new StepRecord.Key(name, 1, position),
                StepKind.SLEEP,
                StepStatus.COMPLETED,
                1,
                Payload.NONE,
                Payload.NONE,
                null,
                null,
                null,
                null);
    }

    static AttemptRecord attempt(String step, int position, int number) {
        var time = Instant.parse("2030-01-01T00:00:00Z").plusSeconds(number);
        return new AttemptRecord(
                new StepRecord.Key(step, 1, position), StepKind.FUNCTION, number, ERROR, time, time.plusMillis(5));
    }
}
