package dev.steadwork.behaviour;

import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.StepStatus;
import dev.steadwork.testing.FaultTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Report;
import dev.steadwork.testing.Script;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(OS.WINDOWS) // it cannot freeze a process
class FencingTest extends FaultTest {
    private static final Duration LEASE = Duration.ofMillis(1200);

    @Test
    @Proves({"LEASE-3", "STEP-4", "CLAIM-5"})
    void a_worker_that_froze_and_lost_its_run_writes_nothing_when_it_thaws() {
        var zombie = startProcess(LEASE);
        var run = play("step charge", "hold ship");
        zombie.report().awaitLine("started ship " + run.id());
        freeze(zombie);
        var report = new Report();
        var script = new Script(report::add);
        work(SCRIPT, script);
        report.awaitLine("started ship " + run.id());

        zombie.go();
        zombie.thaw();
        zombie.report().awaitLine("left " + run.id());
        assertThat(zombie.report().linesOf("kept")).containsExactly("charge " + run.id());
        assertThat(run.steps())
                .filteredOn(StepInfo::status, StepStatus.COMPLETED)
                .extracting(StepInfo::name)
                .containsExactly("charge");
        assertThat(run.status()).isEqualTo(RunStatus.RUNNING);

        script.go();
        var tokens = run.await(PATIENCE);

        assertThat(tokens).first().isEqualTo(1L);
        assertThat(tokens).last().isEqualTo(run.info().lease().epoch());
        assertThat(run.info().error()).isNull();
        assertThat(run.info().lease().lost()).isEqualTo(1);
    }

    @Test
    @Proves("LEASE-3")
    void an_expired_lease_that_nobody_took_is_still_valid() {
        var worker = startProcess(LEASE);
        var run = play("step charge", "hold ship", "step thank");
        worker.report().awaitLine("started ship " + run.id());
        freeze(worker);
        awaitDue(run);

        worker.thaw();
        worker.go();
        var tokens = run.await(PATIENCE);

        assertThat(tokens).containsExactly(1L, 1L, 1L);
        assertThat(worker.report().linesOf("started"))
                .containsExactly("charge " + run.id(), "ship " + run.id(), "thank " + run.id());
        assertThat(run.info().lease().lost()).isZero();
    }

    @Test
    @Proves("LEASE-4")
    void the_fencing_token_grows_with_every_claim() {
        work(SCRIPT, new Script(line -> {}));

        var tokens =
                play("step a", "sleep s 10", "step b", "sleep t 10", "step c").await(PATIENCE);

        assertThat(tokens).isSorted();
        assertThat(tokens).doesNotHaveDuplicates();
    }
}
