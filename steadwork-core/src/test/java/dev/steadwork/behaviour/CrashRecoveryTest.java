package dev.steadwork.behaviour;

import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.testing.FaultTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Report;
import dev.steadwork.testing.Script;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CrashRecoveryTest extends FaultTest {
    private static final Duration LEASE = Duration.ofSeconds(1);

    @Test
    @Proves({"V2", "LEASE-6", "RUN-3", "RUN-5", "STEP-1"})
    void a_run_whose_worker_was_killed_in_a_step_goes_on_at_another_without_repeating_finished_steps() {
        var killed = startProcess(LEASE);
        var run = play("step charge", "hold ship", "step thank");
        killed.report().awaitLine("started ship " + run.id());
        var startedAt = run.info().startedAt();
        killed.kill();

        var report = new Report();
        var script = new Script(report::add);
        script.go();
        work(SCRIPT, script);
        run.await(PATIENCE);

        assertThat(report.linesOf("started")).containsExactly("ship " + run.id(), "thank " + run.id());
        var info = run.info();
        assertThat(info.status()).isEqualTo(RunStatus.COMPLETED);
        assertThat(info.lease().lost()).isEqualTo(1);
        assertThat(info.attempt()).isEqualTo(1);
        assertThat(info.startedAt()).isEqualTo(startedAt);
        assertThat(Duration.between(startedAt, info.finishedAt())).isGreaterThanOrEqualTo(LEASE);
    }

    @Test
    @Proves({"V4", "SLEEP-1"})
    void a_sleep_that_ended_while_no_worker_was_alive_is_not_slept_again() {
        var killed = startProcess(LEASE);
        var run = play("step before", "sleep nap 1000", "step after");
        killed.report().awaitLine("left " + run.id());
        awaitStatus(run, RunStatus.SLEEPING);
        var wakesAt = run.info().times().due();
        killed.kill();
        awaitDue(run);

        work(SCRIPT, new Script(line -> {}));
        var tokens = run.await(PATIENCE);

        assertThat(tokens).as("one claim before the sleep and one after it").containsExactly(1L, 2L);
        assertThat(run.info().finishedAt()).isAfterOrEqualTo(wakesAt);
        assertThat(run.steps()).extracting(StepInfo::name).containsExactly("before", "nap", "after");
        assertThat(run.steps().get(1).finishedAt()).isEqualTo(wakesAt);
    }

    @Test
    @Proves({"RUN-3", "STEP-1", "STEP-3", "CLAIM-5"})
    void runs_complete_and_repeat_no_kept_step_however_often_their_workers_are_killed() {
        var names = IntStream.range(0, 15).mapToObj(i -> "step" + i).toList();
        var acts = names.stream().map(name -> "work " + name + " 80").toList();
        var runs = IntStream.range(0, 20)
                .mapToObj(i -> steadwork.workflow(SCRIPT).trigger(acts))
                .toList();
        var reports = new ArrayList<Report>();
        for (int kills = 0; kills < 3; kills++) {
            reports.add(reportOfWorkerKilledAtRandom());
        }
        var survivor = new Report();
        reports.add(survivor);
        work(SCRIPT, new Script(survivor::add));

        runs.forEach(run -> run.await(PATIENCE));

        assertThat(runs).allSatisfy(run -> {
            assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
            assertThat(run.steps()).extracting(StepInfo::name).containsExactlyElementsOf(names);
        });
        assertNoKeptStepWasStartedAgain(reports);
    }

    private Report reportOfWorkerKilledAtRandom() {
        var worker = startProcess(LEASE);
        await().atMost(PATIENCE).until(() -> !worker.report().linesOf("started").isEmpty());
        var moment = Duration.ofMillis(ThreadLocalRandom.current().nextInt(300));
        await().pollDelay(moment).until(() -> true);
        worker.kill();
        return worker.report();
    }

    private static void assertNoKeptStepWasStartedAgain(List<Report> inOrder) {
        var kept = new HashSet<String>();
        for (var line :
                inOrder.stream().flatMap(report -> report.lines().stream()).toList()) {
            assertThat(kept).doesNotContain(line.replaceFirst("^started ", ""));
            if (line.startsWith("kept ")) {
                kept.add(line.substring("kept ".length()));
            }
        }
    }
}
