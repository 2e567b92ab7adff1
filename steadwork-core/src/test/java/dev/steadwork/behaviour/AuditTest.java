package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.INVALID_ARGUMENT;
import static dev.steadwork.ErrorCode.NOT_FOUND;
import static dev.steadwork.EventKind.CANCELLED;
import static dev.steadwork.EventKind.CREATED;
import static dev.steadwork.EventKind.FAILED;
import static dev.steadwork.EventKind.LEASED;
import static dev.steadwork.EventKind.RETRIED;
import static dev.steadwork.EventKind.SIGNALLED;
import static dev.steadwork.EventKind.SLEPT;
import static dev.steadwork.EventKind.STARTED;
import static dev.steadwork.EventKind.STEP_COMPLETED;
import static dev.steadwork.EventKind.SUCCEEDED;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.EventKind;
import dev.steadwork.PermanentFailure;
import dev.steadwork.RunEvent;
import dev.steadwork.RunHandle;
import dev.steadwork.Workflow;
import dev.steadwork.store.RunIds;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class AuditTest extends EngineTest {
    private static final Workflow<String, String> PAY = Workflow.define("pay", String.class, String.class);

    private static List<EventKind> kinds(RunHandle<?> run) {
        return run.events().stream().map(RunEvent::kind).toList();
    }

    @Test
    @Proves("DATA-5")
    void what_happens_to_a_run_is_recorded_from_its_trigger_to_its_end() {
        steadwork.namespaces().create("default", n -> n.audit(true));
        work(PAY, (ctx, input) -> {
            ctx.step("charge", String.class, step -> "paid");
            ctx.sleep("cool", Duration.ofMillis(50));
            return ctx.transaction("ship", String.class, connection -> "sent")
                    + ctx.awaitEvent("ok", String.class, PATIENCE);
        });
        var run = steadwork.workflow(PAY).trigger("x");
        await().atMost(PATIENCE)
                .until(() -> kinds(run).stream().filter(SLEPT::equals).count() == 2);

        run.by("alice", "it is fine").signal("ok", "!");

        assertThat(run.await(PATIENCE)).isEqualTo("sent!");
        assertThat(kinds(run))
                .containsExactly(
                        CREATED,
                        LEASED,
                        STARTED,
                        STEP_COMPLETED,
                        SLEPT,
                        LEASED,
                        STEP_COMPLETED,
                        SLEPT,
                        SIGNALLED,
                        LEASED,
                        STEP_COMPLETED,
                        SUCCEEDED);
        assertThat(run.events()).extracting(RunEvent::number).isSorted();
        assertThat(run.events().get(8).actor()).isEqualTo("alice");
        assertThat(run.events().get(8).reason()).isEqualTo("it is fine");
    }

    @Test
    @Proves("DATA-5")
    void failures_and_what_operators_do_about_them_are_recorded() {
        steadwork.namespaces().create("default", n -> n.audit(true));
        work(PAY, (ctx, input) -> {
            throw new PermanentFailure("no money");
        });
        var run = steadwork.workflow(PAY).trigger("x");
        await().atMost(PATIENCE).until(() -> kinds(run).contains(FAILED));

        steadwork.runs().type("pay").by("bob", null).retryAll();
        await().atMost(PATIENCE)
                .until(() -> kinds(run).stream().filter(FAILED::equals).count() == 2);

        assertThat(kinds(run)).containsExactly(CREATED, LEASED, STARTED, FAILED, RETRIED, LEASED, FAILED);
        assertThat(run.events().get(3).detail()).contains("no money");
        assertThat(run.events().get(4).actor()).isEqualTo("bob");
    }

    @Test
    @Proves("DATA-5")
    void children_and_dead_letters_are_recorded() {
        var child = Workflow.define("child", String.class, String.class);
        steadwork.namespaces().create("default", n -> n.audit(true));
        steadwork
                .worker()
                .handle(child, (ctx, input) -> {
                    ctx.sleep("long", Duration.ofHours(1));
                    return input;
                })
                .handle(PAY, (ctx, input) -> ctx.child(child, input).get())
                .start();
        var parent = steadwork.workflow(PAY).trigger("x");
        await().atMost(PATIENCE)
                .until(() -> steadwork.runs().type("child").count() == 1
                        && kinds(steadwork.run(steadwork
                                        .runs()
                                        .type("child")
                                        .page(1)
                                        .items()
                                        .get(0)
                                        .id()))
                                .contains(SLEPT));
        var started = steadwork.run(
                steadwork.runs().type("child").page(1).items().get(0).id());

        parent.cancel();

        assertThat(kinds(started)).containsExactly(CREATED, LEASED, STARTED, SLEPT, CANCELLED);
        assertThat(started.events().get(4).detail()).contains(parent.id().toString());
    }

    @Test
    @Proves("DATA-5")
    void another_process_records_from_its_next_heartbeat_on_and_stops_when_told() {
        var operator = open(settings -> settings);
        work(PAY, (ctx, input) -> input);
        var before = steadwork.workflow(PAY).trigger("x");
        before.await(PATIENCE);

        operator.namespaces().create("default", n -> n.audit(true));
        await().atMost(PATIENCE).until(() -> {
            var run = steadwork.workflow(PAY).trigger("x");
            run.await(PATIENCE);
            return kinds(run).equals(List.of(CREATED, LEASED, STARTED, SUCCEEDED));
        });
        operator.namespaces().update("default", n -> n.audit(false));

        await().atMost(PATIENCE).until(() -> {
            var run = steadwork.workflow(PAY).trigger("x");
            run.await(PATIENCE);
            return run.events().isEmpty();
        });
        assertThat(before.events()).isEmpty();
    }

    @Test
    @Proves("DATA-5")
    void who_asks_has_a_name_and_the_events_of_no_run_are_not_found() {
        steadwork.register(PAY);
        var run = steadwork.workflow(PAY).trigger("x");

        assertRefused(INVALID_ARGUMENT, () -> run.by("", "why"), "actor");
        assertRefused(INVALID_ARGUMENT, () -> run.by("alice", " "), "reason");
        assertRefused(INVALID_ARGUMENT, () -> steadwork.runs().by(" ", null), "actor");
        var nobody = RunIds.next("default", null);
        assertRefused(NOT_FOUND, () -> steadwork.run(nobody).events(), nobody.toString());
        assertThat(run.by("alice", null).id()).isEqualTo(run.id());
    }
}
