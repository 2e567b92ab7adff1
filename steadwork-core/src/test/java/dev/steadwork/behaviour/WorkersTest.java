package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.NOT_FOUND;
import static dev.steadwork.ErrorCode.PRECONDITION_FAILED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.RunStatus.SLEEPING;
import static dev.steadwork.WorkerStatus.DRAINING;
import static dev.steadwork.WorkerStatus.OFFLINE;
import static dev.steadwork.WorkerStatus.ONLINE;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.testing.Script.OTHER;
import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.PermanentFailure;
import dev.steadwork.TriggerCheck;
import dev.steadwork.WorkerInfo;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.WorkerProcess;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WorkersTest extends EngineTest {
    private static final Workflow<String, String> GREET = Workflow.define("greet", String.class, String.class);

    @Test
    @Proves({"WORKER-1", "WORKER-4"})
    void a_worker_is_listed_with_what_it_serves() {
        var worker = steadwork
                .worker()
                .name("front")
                .buildVersion("1.4.2")
                .label("zone", "eu")
                .version("v1")
                .concurrency(7)
                .handle(GREET.onQueue("people"), (ctx, name) -> name)
                .start();

        var info = only();

        assertThat(info.id()).isEqualTo(worker.id());
        assertThat(info.name()).isEqualTo("front");
        assertThat(info.pid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(info.version()).isEqualTo("1.4.2");
        assertThat(info.labels()).isEqualTo(Map.of("zone", "eu"));
        assertThat(info.status()).isEqualTo(ONLINE);
        assertThat(info.queues()).containsExactly("people");
        assertThat(info.types()).containsExactly("greet");
        assertThat(info.versions()).containsExactly("v1");
        assertThat(info.concurrency()).isEqualTo(7);
    }

    @Test
    @Proves("WORKER-4")
    void workers_are_filtered_and_counted_and_paged() {
        steadwork
                .worker()
                .name("a")
                .label("zone", "eu")
                .handle(GREET, (ctx, n) -> n)
                .start();
        steadwork
                .worker()
                .name("b")
                .label("zone", "us")
                .queue("other")
                .handle(GREET, (ctx, n) -> n)
                .start()
                .close();
        steadwork.worker().name("c").queue("other").handle(GREET, (ctx, n) -> n).start();

        assertThat(names(steadwork.workers().list())).containsExactly("a", "b", "c");
        assertThat(names(steadwork.workers().queue("other").list())).containsExactly("b", "c");
        assertThat(names(steadwork.workers().queue("other").status(ONLINE).list()))
                .containsExactly("c");
        assertThat(names(steadwork.workers().label("zone", "us").list())).containsExactly("b");
        assertThat(steadwork.workers().status(OFFLINE).count()).isEqualTo(1);
        var page = steadwork.workers().page(2);
        assertThat(names(page.items())).containsExactly("a", "b");
        assertThat(names(page.next().items())).containsExactly("c");
        assertThat(open(s -> s.namespace("elsewhere")).workers().list()).isEmpty();
    }

    private static List<String> names(List<WorkerInfo> workers) {
        return workers.stream().map(WorkerInfo::name).toList();
    }

    @Test
    @Proves("WORKER-1")
    void a_worker_by_prefix_is_listed_with_the_queues_that_it_reads_now() {
        steadwork
                .worker()
                .typePrefix("gre")
                .handle(GREET.onQueue("people"), (ctx, name) -> name)
                .start();
        assertThat(only().queues()).containsExactly("people");

        open(s -> s)
                .register(Workflow.define("grease", String.class, String.class).onQueue("pans"));

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(only().queues()).containsExactly("pans", "people"));
    }

    @Test
    @Proves("WORKER-2")
    void what_became_of_runs_is_counted() {
        work(GREET, (ctx, name) -> {
            if (name.isEmpty()) {
                throw new PermanentFailure("nobody is there");
            }
            ctx.sleep("a while", Duration.ofMillis(10));
            return name;
        });
        var runs = steadwork.workflow(GREET).triggerAll(List.of("Ada", "Bob", "", "Cyd"));
        runs.forEach(Runs::awaitEnd);

        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(only().completed()).isEqualTo(3);
            assertThat(only().failed()).isEqualTo(1);
            assertThat(only().active()).isZero();
        });
    }

    @Test
    @Proves("WORKER-2")
    void a_run_that_was_cancelled_before_it_could_complete_counts_as_neither() throws InterruptedException {
        var gate = new Gate();
        var worker = work(GREET, (ctx, name) -> {
            gate.passDeaf();
            return name;
        });
        var run = steadwork.workflow(GREET).trigger("Ada");
        gate.awaitReached();
        run.cancel();
        gate.open();
        Runs.awaitCancelled(run);

        worker.close();

        assertThat(only().completed()).isZero();
        assertThat(only().failed()).isZero();
    }

    @Test
    @Proves("WORKER-4")
    void a_drained_worker_finishes_what_it_executes_and_takes_nothing_more() throws InterruptedException {
        var gate = new Gate();
        var worker = work(
                GREET,
                (ctx, name) -> ctx.step("greet", String.class, step -> {
                    if (name.equals("Ada")) {
                        gate.pass();
                    }
                    return "Hello " + name;
                }));
        var running = steadwork.workflow(GREET).trigger("Ada");
        gate.awaitReached();

        open(s -> s).workers().drain(worker.id());

        assertThat(only().status()).isEqualTo(DRAINING);
        awaitHeartbeats(2);
        assertThat(only().status()).isEqualTo(DRAINING);
        assertRefused(
                PRECONDITION_FAILED,
                () -> steadwork
                        .workflow(GREET)
                        .check(TriggerCheck.REQUIRE_ONLINE)
                        .trigger("Bob"));
        var waiting = steadwork.workflow(GREET).trigger("Bob");
        gate.open();
        assertThat(running.await(PATIENCE)).isEqualTo("Hello Ada");
        awaitHeartbeats(2);
        assertThat(waiting.status()).isEqualTo(PENDING);

        steadwork.workers().resume(worker.id());

        assertThat(waiting.await(PATIENCE)).isEqualTo("Hello Bob");
        assertThat(only().status()).isEqualTo(ONLINE);
    }

    @Test
    @Proves("WORKER-4")
    void a_drained_worker_hears_of_it_before_its_next_heartbeat() {
        var slow = open(s -> s.lease(Duration.ofHours(2)).heartbeat(Duration.ofHours(1)));
        var worker = slow.worker().handle(GREET, (ctx, name) -> name).start();
        slow.workflow(GREET).trigger("Ada").await(PATIENCE);
        var before = only().heartbeatAt();

        slow.workers().drain(worker.id());

        await().atMost(PATIENCE).until(() -> only().heartbeatAt().isAfter(before));
    }

    @Test
    @Proves("WORKER-4")
    void another_worker_goes_on_with_what_a_drained_one_put_to_sleep() {
        var drained = work(GREET, (ctx, name) -> ctx.awaitEvent("go", String.class, PATIENCE) + " drained");
        var run = steadwork.workflow(GREET).trigger("Ada");
        Runs.awaitStatus(run, SLEEPING);
        steadwork.workers().drain(drained.id());
        awaitHeartbeats(2);
        open(s -> s)
                .worker()
                .handle(GREET, (ctx, name) -> ctx.awaitEvent("go", String.class, PATIENCE) + " other")
                .start();

        run.signal("go", "by");

        assertThat(run.await(PATIENCE)).isEqualTo("by other");
    }

    @Test
    @Proves({"WORKER-2", "WORKER-4"})
    void a_killed_worker_becomes_offline() {
        try (var process = WorkerProcess.start(url, Duration.ofSeconds(2))) {
            await().atMost(PATIENCE)
                    .until(() -> steadwork.workers().status(ONLINE).count() == 1);
            process.kill();
        }
        open(s -> s.staleAfter(Duration.ofSeconds(1)))
                .worker()
                .name("witness")
                .handle(GREET, (ctx, name) -> name)
                .start();

        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(steadwork.workers().queue("script").list())
                                .extracting(WorkerInfo::status)
                                .containsExactly(OFFLINE));
        assertThat(steadwork.workers().status(ONLINE).list())
                .extracting(WorkerInfo::name)
                .containsExactly("witness");
    }

    @Test
    @Proves("WORKER-4")
    void a_dead_worker_can_be_deregistered_and_one_that_lives_comes_back() {
        var worker = work(GREET, (ctx, name) -> name);

        steadwork.workers().deregister(worker.id());

        await().atMost(PATIENCE).until(() -> only().status(), ONLINE::equals);
        worker.close();
        assertThat(only().status()).isEqualTo(OFFLINE);
        steadwork.workers().deregister(worker.id());
        assertThat(only().status()).isEqualTo(OFFLINE);
    }

    @Test
    @Proves("WORKER-4")
    void what_is_asked_of_an_unknown_worker_is_refused() {
        assertRefused(NOT_FOUND, () -> steadwork.workers().drain("nobody"), "nobody", "workers().list()");
        assertRefused(NOT_FOUND, () -> steadwork.workers().resume("nobody"));
        assertRefused(NOT_FOUND, () -> steadwork.workers().deregister("nobody"));
    }

    @Test
    @Proves("WORKER-1")
    void the_environment_chooses_the_queues_of_a_program() {
        var ofAnotherRole = steadwork.workflow(SCRIPT).trigger(List.of("step a"));
        var run = steadwork.workflow(SCRIPT).queue("vip").trigger(List.of("step a"));
        try (var process =
                WorkerProcess.start(url, Duration.ofSeconds(2), Map.of("STEADWORK_WORKER_QUEUES", "vip, bulk"))) {
            process.report().awaitLine("kept a " + run.id());

            assertThat(run.await(PATIENCE)).hasSize(1);
            assertThat(only().queues()).containsExactlyInAnyOrder("bulk", "vip");
            assertThat(ofAnotherRole.status()).isEqualTo(PENDING);
        }
    }

    @Test
    @Proves("WORKER-1")
    void the_environment_chooses_the_types_of_a_program() {
        var ofAnotherRole = steadwork.workflow(SCRIPT).trigger(List.of("step a"));
        var run = steadwork.workflow(OTHER).trigger(List.of("step a"));
        try (var process =
                WorkerProcess.start(url, Duration.ofSeconds(2), Map.of("STEADWORK_WORKER_TYPE_PREFIXES", "other."))) {
            process.report().awaitLine("kept a " + run.id());

            assertThat(run.await(PATIENCE)).hasSize(1);
            assertThat(only().types()).containsExactly(OTHER.name());
            assertThat(ofAnotherRole.status()).isEqualTo(PENDING);
        }
    }

    private WorkerInfo only() {
        var workers = steadwork.workers().list();
        assertThat(workers).hasSize(1);
        return workers.get(0);
    }

    private void awaitHeartbeats(int beats) {
        for (int i = 0; i < beats; i++) {
            var before = only().heartbeatAt();
            await().atMost(PATIENCE).until(() -> only().heartbeatAt().isAfter(before));
        }
    }
}
