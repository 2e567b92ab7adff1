package dev.steadwork.behaviour;

import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.steadwork.InvalidArgument;
import dev.steadwork.RunError;
import dev.steadwork.RunFailedException;
import dev.steadwork.RunHandle;
import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import dev.steadwork.testing.CountingDataSource;
import dev.steadwork.testing.FaultTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Report;
import dev.steadwork.testing.Script;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class LeaseTest extends FaultTest {
    private final Report report = new Report();
    private final Script script = new Script(report::add);

    @Test
    @Proves("LEASE-1")
    void a_lease_lasts_30_seconds_unless_told_otherwise() {
        try (var defaults = Steadwork.open(url)) {
            defaults.worker().handle(SCRIPT, script).start();

            assertThat(leaseOf(playHeld())).isEqualTo(Duration.ofSeconds(30));
            script.go();
        }
    }

    @Test
    @Proves("LEASE-1")
    void an_engine_has_its_own_lease() {
        open(settings -> settings.lease(Duration.ofSeconds(45)).heartbeat(Duration.ofSeconds(15)))
                .worker()
                .handle(SCRIPT, script)
                .start();

        assertThat(leaseOf(playHeld())).isEqualTo(Duration.ofSeconds(45));
        script.go();
    }

    @Test
    @Proves("LEASE-1")
    void a_workflow_has_its_own_lease() {
        work(SCRIPT.lease(Duration.ofSeconds(75), Duration.ofSeconds(20)), script);

        assertThat(leaseOf(playHeld())).isEqualTo(Duration.ofSeconds(75));
        script.go();
    }

    @Test
    @Proves({"LEASE-1", "LEASE-2"})
    void the_heartbeat_sets_the_end_of_the_lease_anew_at_its_interval() {
        var heartbeat = Duration.ofMillis(600);
        work(SCRIPT.lease(Duration.ofSeconds(20), heartbeat), script);
        var run = playHeld();

        var ends = new TreeSet<Instant>();
        await().atMost(PATIENCE).until(() -> ends.add(leaseEnd(run)) && ends.size() == 4);
        script.go();

        var beats = new ArrayList<>(ends).subList(1, 4);
        assertThat(Duration.between(beats.get(0), beats.get(2)))
                .isGreaterThan(heartbeat.multipliedBy(3).dividedBy(2));
    }

    @Test
    @Proves("LEASE-2")
    void a_step_may_take_many_leases_while_its_worker_is_alive() {
        var lease = Duration.ofMillis(1500);
        work(SCRIPT.lease(lease, Duration.ofMillis(300)), script);
        var run = playHeld();
        open(settings -> settings)
                .worker()
                .handle(SCRIPT, new Script(report::add))
                .start();

        var end = run.info().startedAt().plus(lease.multipliedBy(3));
        await().atMost(PATIENCE).until(() -> leaseEnd(run).isAfter(end));
        script.go();
        run.await(PATIENCE);

        assertThat(report.linesOf("started")).containsExactly("ship " + run.id());
        assertThat(run.info().lease().epoch()).isEqualTo(1);
        assertThat(run.info().lease().lost()).isZero();
    }

    @Test
    @Proves("LEASE-2")
    void one_transaction_prolongs_all_leases_of_a_worker() {
        var lease = Duration.ofSeconds(10);
        try (var pool = new HikariDataSource()) {
            pool.setJdbcUrl(url);
            var counting = new CountingDataSource(pool);
            var heartbeat = Duration.ofMillis(500);
            var settings = Steadwork.builder()
                    .dataSource(counting.counted())
                    .lease(lease)
                    .heartbeat(heartbeat);
            try (var engine = settings.open()) {
                engine.worker().handle(SCRIPT, script).start();
                var runs = engine.workflow(SCRIPT).triggerAll(Collections.nCopies(50, List.of("hold ship")));
                await().atMost(PATIENCE).until(() -> report.linesOf("started").size() == 50);
                long before = counting.transactions();
                var since = Instant.now();

                var end = since.plus(lease.plusSeconds(1));
                await().atMost(PATIENCE)
                        .until(() -> runs.stream()
                                .allMatch(
                                        run -> leaseEnd(steadwork.run(run.id())).isAfter(end)));

                long heartbeats = Duration.between(since, Instant.now()).dividedBy(heartbeat) + 1;
                assertThat(counting.transactions() - before)
                        .as("transactions for %d heartbeats of 50 runs, polls included", heartbeats)
                        .isLessThan(10 * heartbeats);
                script.go();
            }
        }
    }

    @Test
    @Proves("LEASE-6")
    void a_run_that_lost_more_workers_than_its_crash_budget_fails() {
        var killed = startProcess(Duration.ofSeconds(1));
        var run = play("hold ship");
        killed.report().awaitLine("started ship " + run.id());
        killed.kill();

        var tolerant = open(settings -> settings.crashBudget(1))
                .worker()
                .handle(SCRIPT, script)
                .drainTimeout(Duration.ZERO)
                .start();
        report.awaitLine("started ship " + run.id());
        tolerant.close();
        open(settings -> settings.crashBudget(0))
                .worker()
                .handle(SCRIPT, script)
                .start();

        assertThatThrownBy(() -> run.await(PATIENCE))
                .asInstanceOf(type(RunFailedException.class))
                .extracting(failure -> failure.error().type())
                .isEqualTo(RunError.WORKER_LOST);
        assertThat(run.info().lease().lost()).isEqualTo(1);
        assertThat(report.linesOf("started")).containsExactly("ship " + run.id());
    }

    @Test
    @Proves({"LEASE-6", "EVENT-2"})
    void sleeping_pausing_and_being_handed_back_use_up_neither_attempts_nor_crash_budget() {
        var strict = open(settings -> settings.crashBudget(0));
        var first = strict.worker()
                .handle(SCRIPT, script)
                .drainTimeout(Duration.ZERO)
                .start();
        var run = play("step a", "sleep s 10", "step b", "sleep t 10", "hold c", "step d");
        report.awaitLine("started c " + run.id());
        first.close();
        var second = new Script(report::add);
        strict.worker().handle(SCRIPT, second).start();
        await().atMost(PATIENCE).until(() -> report.linesOf("started").size() == 4);
        run.pause();
        second.go();
        awaitStatus(run, RunStatus.PAUSED);

        run.resume();
        run.await(PATIENCE);

        assertThat(run.info().attempt()).isEqualTo(1);
        assertThat(run.info().lease().lost()).isZero();
        assertThat(run.info().error()).isNull();
    }

    @Test
    @Proves("LEASE-1")
    void a_heartbeat_that_is_not_shorter_than_the_lease_is_refused() {
        var second = Duration.ofSeconds(1);

        assertThatThrownBy(() -> SCRIPT.lease(second, second)).isInstanceOf(InvalidArgument.class);
        assertThatThrownBy(() -> open(settings -> settings.lease(second).heartbeat(second)))
                .isInstanceOf(InvalidArgument.class);
    }

    private RunHandle<List<Long>> playHeld() {
        var run = play("hold ship");
        report.awaitLine("started ship " + run.id());
        return run;
    }

    private static Duration leaseOf(RunHandle<?> run) {
        var times = run.info().times();
        return Duration.between(times.started(), times.due());
    }

    private static Instant leaseEnd(RunHandle<?> run) {
        return run.info().times().due();
    }
}
