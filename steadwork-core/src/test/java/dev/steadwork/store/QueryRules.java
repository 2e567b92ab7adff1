package dev.steadwork.store;

import static dev.steadwork.store.StoreRules.attempt;
import static dev.steadwork.store.StoreRules.json;
import static dev.steadwork.store.StoreRules.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunQuery;
import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What can be asked about runs. */
interface QueryRules extends StoreRules {
    RunQuery.Filter ALL = new RunQuery.Filter(Set.of(), null, null, Map.of(), null, null, null, null, null, false);

    @Test
    @Proves("STORE-3")
    default void nothing_is_known_of_a_run_that_does_not_exist() {
        var unknown = aRun().build().id();

        assertThat(store().find(unknown)).isNull();
        assertThat(store().input(unknown)).isNull();
        assertThat(store().steps(unknown)).isEmpty();
        assertThat(store().ends(List.of(unknown))).containsExactly(new RunEnd(unknown, null, Payload.NONE, null));
    }

    @Test
    @Proves("RESULT-1")
    default void the_ends_of_many_runs_are_asked_for_at_once() {
        var completed = running();
        write(new Write.Finish(completed.id(), completed.epoch(), RunStatus.COMPLETED, json("7"), null, null));
        var failed = in(RunStatus.FAILED);
        var waiting = in(RunStatus.SLEEPING);
        var unknown = aRun().build().id();

        var ends = store().ends(List.of(waiting, failed, unknown, completed.id()));

        assertThat(ends)
                .containsExactlyInAnyOrder(
                        new RunEnd(completed.id(), RunStatus.COMPLETED, json("7"), null),
                        new RunEnd(failed, RunStatus.FAILED, Payload.NONE, ERROR),
                        new RunEnd(unknown, null, Payload.NONE, null));
        assertThat(store().ends(List.of())).isEmpty();
    }

    @Test
    @Proves({"DATA-1", "STEP-6"})
    default void empty_and_missing_outputs_are_told_apart() {
        var outputs = List.of(Payload.NONE, new Payload(new byte[0], Payload.BYTES), json("null"), json(""));
        for (var output : outputs) {
            var run = running();
            write(new Write.Finish(run.id(), run.epoch(), RunStatus.COMPLETED, output, null, null));

            assertThat(store().ends(List.of(run.id())))
                    .extracting(RunEnd::output)
                    .containsExactly(output);
        }
    }

    @Test
    @Proves("STEP-6")
    default void a_step_is_shown_with_everything_recorded_of_it() {
        var run = running();
        var time = Instant.parse("2030-01-01T00:00:00.123456Z");
        var key = new StepRecord.Key("charge", 2, 5);
        var input = new Payload(new byte[] {1, 2}, Payload.BYTES);
        var record = new StepRecord(
                key,
                StepKind.FUNCTION,
                StepStatus.FAILED,
                3,
                input,
                Payload.NONE,
                ERROR,
                time,
                time.plusMillis(1),
                null);
        write(new Write.SaveStep(run.id(), run.epoch(), record));
        write(new Write.SaveAttempt(
                run.id(), run.epoch(), new AttemptRecord(key, StepKind.FUNCTION, 2, ERROR, time, time)));

        assertThat(store().steps(run.id()))
                .containsExactly(new StepInfo(
                        "charge#2",
                        StepKind.FUNCTION,
                        5,
                        StepStatus.FAILED,
                        3,
                        input,
                        Payload.NONE,
                        ERROR,
                        time,
                        time.plusMillis(1),
                        List.of(new StepInfo.FailedAttempt(2, ERROR, time, time)),
                        null));
    }

    @Test
    @Proves({"STEP-2", "STEP-6"})
    default void steps_are_listed_in_the_order_of_their_calls() {
        var run = running();
        write(new Write.SaveStep(run.id(), run.epoch(), step("b", 2, "2")));
        write(new Write.SaveAttempt(run.id(), run.epoch(), attempt("c", 3, 1)));
        write(new Write.SaveStep(run.id(), run.epoch(), step("a", 1, "1")));

        var steps = store().steps(run.id());

        assertThat(steps).extracting(StepInfo::name).containsExactly("a", "b", "c");
        assertThat(steps.get(2).status()).isEqualTo(StepStatus.RETRYING);
        assertThat(steps.get(2).error()).isEqualTo(ERROR);
    }

    @Test
    @Proves("DATA-3")
    default void a_list_is_paged_without_gaps_while_runs_are_added() {
        var created = new ArrayList<RunId>();
        for (int i = 0; i < 7; i++) {
            created.add(0, create(aRun()));
        }

        var listed = new ArrayList<RunId>();
        RunId last = null;
        for (var page = page(ALL, last, 3); !page.isEmpty(); page = page(ALL, last, 3)) {
            listed.addAll(page);
            last = page.get(page.size() - 1);
            create(aRun());
        }

        assertThat(listed).isEqualTo(created);
    }

    private List<RunId> page(RunQuery.Filter filter, RunId before, int limit) {
        return store().list(namespace(), filter, before, limit).stream()
                .map(RunInfo::id)
                .toList();
    }

    /** Asks for these runs, in any order, both by list and by count. */
    private void assertMatches(RunQuery.Filter filter, RunId... runs) {
        assertThat(page(filter, null, 100)).containsExactlyInAnyOrder(runs);
        assertThat(store().count(namespace(), filter)).isEqualTo(runs.length);
    }

    @Test
    @Proves("DATA-3")
    default void a_list_is_of_one_namespace() {
        create(new RunSpec(namespace() + "-b", TYPE));

        assertMatches(ALL, create(aRun()));
    }

    @Test
    @Proves("DATA-3")
    default void runs_are_found_by_status() {
        var failed = in(RunStatus.FAILED);
        var paused = in(RunStatus.PAUSED);
        in(RunStatus.SLEEPING);

        assertMatches(statuses(Set.of(RunStatus.FAILED)), failed);
        assertMatches(statuses(Set.of(RunStatus.FAILED, RunStatus.PAUSED)), failed, paused);
        assertMatches(statuses(Set.of(RunStatus.COMPLETED)));
    }

    private static RunQuery.Filter statuses(Set<RunStatus> statuses) {
        return new RunQuery.Filter(statuses, null, null, Map.of(), null, null, null, null, null, false);
    }

    @Test
    @Proves("DATA-3")
    default void runs_are_found_by_type_queue_external_id_and_parent() {
        var parent = create(aRun().queue("parents"));
        var typed = create(new RunSpec(namespace(), "refund").queue("shared"));
        var queued = create(aRun().queue("fast"));
        var named = create(aRun().externalId("order-1").queue("shared"));
        var child = create(aRun().parent(new RunInfo.Parent(parent, null)).queue("shared"));

        assertMatches(
                new RunQuery.Filter(Set.of(), "refund", null, Map.of(), null, null, null, null, null, false), typed);
        assertMatches(
                new RunQuery.Filter(Set.of(), null, "fast", Map.of(), null, null, null, null, null, false), queued);
        assertMatches(
                new RunQuery.Filter(Set.of(), null, null, Map.of(), "order-1", null, null, null, null, false), named);
        assertMatches(
                new RunQuery.Filter(Set.of(), null, null, Map.of(), null, null, null, parent, null, false), child);
        assertMatches(
                new RunQuery.Filter(Set.of(), TYPE, "shared", Map.of(), null, null, null, null, null, false),
                named,
                child);
    }

    @Test
    @Proves("DATA-3")
    default void runs_are_found_by_tags_that_must_all_be_there() {
        var both = create(aRun().tag("customer", "42").tag("region", "it's \"eu\" 100%"));
        var one = create(aRun().tag("customer", "42"));
        create(aRun().tag("customer", "420"));
        create(aRun());

        assertMatches(tags(Map.of("customer", "42")), both, one);
        assertMatches(tags(Map.of("customer", "42", "region", "it's \"eu\" 100%")), both);
        assertMatches(tags(Map.of("region", "%")));
    }

    private static RunQuery.Filter tags(Map<String, String> tags) {
        return new RunQuery.Filter(Set.of(), null, null, tags, null, null, null, null, null, false);
    }

    @Test
    @Proves("DATA-3")
    default void runs_are_found_by_the_time_they_were_created() {
        var run = create(aRun());
        var created = info(run).createdAt();

        assertMatches(created(created, null), run);
        assertMatches(created(created.plusNanos(1000), null));
        assertMatches(created(null, created));
        assertMatches(created(null, created.plusNanos(1000)), run);
        assertMatches(created(created.minus(Duration.ofDays(3000)), created.plus(Duration.ofDays(3000))), run);
    }

    private static RunQuery.Filter created(Instant after, Instant before) {
        return new RunQuery.Filter(Set.of(), null, null, Map.of(), null, after, before, null, null, false);
    }

    @Test
    @Proves("DATA-3")
    default void runs_are_found_by_the_text_of_their_error() {
        var percent = failedWith(new RunError("java.io.IOException", "Disk 100% full", "charge#2", "at secret.Trace"));
        var plain = failedWith(new RunError("a.Timeout", null, null, null));
        create(aRun());

        assertMatches(errorText("disk 100%"), percent);
        assertMatches(errorText("IOEXCEPTION: disk"), percent);
        assertMatches(errorText("step charge#2"), percent);
        assertMatches(errorText("a.timeout"), plain);
        assertMatches(errorText("1%l"));
        assertMatches(errorText("stackTrace"));
        assertMatches(errorText("_"));
    }

    private RunId failedWith(RunError error) {
        var run = running();
        write(new Write.Finish(run.id(), run.epoch(), RunStatus.FAILED, Payload.NONE, error, null));
        return run.id();
    }

    private static RunQuery.Filter errorText(String text) {
        return new RunQuery.Filter(Set.of(), null, null, Map.of(), null, null, null, null, text, false);
    }

    @Test
    @Proves({"DATA-3", "DATA-4"})
    default void deleted_runs_are_listed_only_if_asked_for() {
        var kept = create(aRun());
        var deleted = create(aRun());
        store().delete(deleted, "test");

        assertMatches(ALL, kept);
        assertMatches(
                new RunQuery.Filter(Set.of(), null, null, Map.of(), null, null, null, null, null, true), kept, deleted);
    }
}
