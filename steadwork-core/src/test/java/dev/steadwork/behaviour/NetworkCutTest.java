package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunHandle;
import dev.steadwork.RunStatus;
import dev.steadwork.Steadwork;
import dev.steadwork.StepInfo;
import dev.steadwork.StepStatus;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Worker;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.testing.PostgresServer;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TcpProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The network between a worker and its database fails for longer than the lease. */
class NetworkCutTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Workflow<String, String> DELIVERY =
            Workflow.define("delivery", String.class, String.class).check(TriggerCheck.ACCEPT);

    private final String url = PostgresServer.newDatabase();
    private final TcpProxy network = new TcpProxy(url);
    private final Steadwork direct = engine(url);
    private final Steadwork remote = engine(network.url() + "&socketTimeout=1");
    private final AtomicInteger executed = new AtomicInteger();
    private final AtomicBoolean broken = new AtomicBoolean();

    enum Fault {
        CUT(TcpProxy::cut),
        STALL(TcpProxy::stall);

        private final Consumer<TcpProxy> breaking;

        Fault(Consumer<TcpProxy> breaking) {
            this.breaking = breaking;
        }
    }

    @AfterEach
    void closeAll() {
        network.heal();
        remote.close();
        direct.close();
        network.close();
        PostgresServer.dropDatabase(url);
    }

    @ParameterizedTest
    @EnumSource
    @Proves({"V3", "STEP-5", "LEASE-3"})
    void a_step_that_succeeded_is_kept_when_the_network_is_back(Fault fault) {
        work(
                remote,
                (ctx, order) -> ctx.step("ship", String.class, step -> {
                    executed.incrementAndGet();
                    breakOnce(fault);
                    return "parcel of " + order;
                }));
        var run = trigger("a");

        healAfterLease(run);

        assertThat(run.await(PATIENCE)).isEqualTo("parcel of a");
        assertThat(executed).hasValue(1);
        assertThat(run.steps()).extracting(StepInfo::status).containsExactly(StepStatus.COMPLETED);
        assertThat(run.steps()).extracting(StepInfo::attempt).containsExactly(1);
        assertThat(run.steps()).flatExtracting(StepInfo::failedAttempts).isEmpty();
        assertNothingWasLost(run, 1);
        assertThat(trigger("b").await(PATIENCE)).isEqualTo("parcel of b");
    }

    @Test
    @Proves({"STEP-5", "STEP-4"})
    void a_checkpoint_whose_answer_was_lost_is_kept_once() {
        work(
                remote,
                (ctx, order) -> ctx.step("ship-to-customer", String.class, step -> {
                    executed.incrementAndGet();
                    network.cutAfter("ship-to-customer");
                    broken.set(true);
                    return "parcel";
                }));
        var run = trigger("order");
        await().atMost(PATIENCE).untilTrue(broken);
        await().atMost(PATIENCE).until(() -> run.steps().stream().anyMatch(step -> step.finishedAt() != null));
        assertThat(run.status()).isEqualTo(RunStatus.RUNNING);

        network.heal();

        assertThat(run.await(PATIENCE)).isEqualTo("parcel");
        assertThat(executed).hasValue(1);
        assertThat(run.steps()).hasSize(1);
        assertNothingWasLost(run, 1);
    }

    @Test
    @Proves("STEP-5")
    void the_end_of_a_run_is_recorded_when_the_network_is_back() {
        work(remote, (ctx, order) -> {
            executed.incrementAndGet();
            breakOnce(Fault.CUT);
            return "delivered";
        });
        var run = trigger("order");

        healAfterLease(run);

        assertThat(run.await(PATIENCE)).isEqualTo("delivered");
        assertThat(executed).hasValue(1);
        assertNothingWasLost(run, 1);
    }

    @Test
    @Proves({"STEP-5", "SLEEP-1"})
    void a_sleep_begins_when_the_network_is_back() {
        work(remote, (ctx, order) -> {
            breakOnce(Fault.CUT);
            ctx.sleep("nap", Duration.ofMillis(100));
            return ctx.step("ship", String.class, step -> "parcel " + executed.incrementAndGet());
        });
        var run = trigger("order");

        healAfterLease(run);

        assertThat(run.await(PATIENCE)).isEqualTo("parcel 1");
        assertNothingWasLost(run, 2);
    }

    @ParameterizedTest
    @EnumSource
    @Proves({"V3", "LEASE-3", "LEASE-6", "STEP-4"})
    void another_worker_takes_the_run_over_and_the_late_result_is_refused(Fault fault) {
        var go = new CountDownLatch(1);
        var cutOff = work(
                remote,
                (ctx, order) -> ctx.step("ship", String.class, step -> {
                    breakOnce(fault);
                    return "late parcel";
                }));
        var run = trigger("order");
        await().atMost(PATIENCE).untilTrue(broken);
        work(
                direct,
                (ctx, order) -> ctx.step("ship", String.class, step -> {
                    executed.incrementAndGet();
                    go.await();
                    return "parcel";
                }));
        await().atMost(PATIENCE).until(() -> executed.get() == 1);

        network.heal();
        await().atMost(PATIENCE).until(() -> cutOff.active() == 0);
        assertThat(run.status()).isEqualTo(RunStatus.RUNNING);
        assertThat(run.steps()).extracting(StepInfo::status).doesNotContain(StepStatus.COMPLETED);
        go.countDown();

        assertThat(run.await(PATIENCE)).isEqualTo("parcel");
        assertThat(executed).hasValue(1);
        assertThat(run.info().lease().lost()).isEqualTo(1);
        assertThat(run.info().error()).isNull();
    }

    private static Steadwork engine(String url) {
        return Steadwork.builder()
                .url(url)
                .lease(Duration.ofMillis(1500))
                .heartbeat(Duration.ofMillis(400))
                .pollInterval(Duration.ofMillis(500))
                .poolSize(5)
                .open();
    }

    private static Worker work(Steadwork engine, WorkflowHandler<String, String> handler) {
        return engine.worker().handle(DELIVERY, handler).start();
    }

    private RunHandle<String> trigger(String order) {
        return direct.workflow(DELIVERY).trigger(order);
    }

    private void breakOnce(Fault fault) {
        if (!broken.get()) {
            fault.breaking.accept(network);
            broken.set(true);
        }
    }

    private void healAfterLease(RunHandle<?> run) {
        await().atMost(PATIENCE).untilTrue(broken);
        await().atMost(PATIENCE).until(() -> run.info().times().due().isBefore(Instant.now()));
        network.heal();
    }

    private static void assertNothingWasLost(RunHandle<?> run, long claims) {
        var info = run.info();
        assertThat(info.status()).isEqualTo(RunStatus.COMPLETED);
        assertThat(info.error()).isNull();
        assertThat(info.attempt()).isEqualTo(1);
        assertThat(info.lease().lost()).isZero();
        assertThat(info.lease().epoch()).isEqualTo(claims);
    }
}
