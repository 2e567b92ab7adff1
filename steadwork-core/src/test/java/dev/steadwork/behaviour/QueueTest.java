package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.PENDING;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.util.Collections;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class QueueTest extends EngineTest {
    private static final Workflow<String, String> PAY = Workflow.define("pay", String.class, String.class);
    private static final Workflow<String, String> SHIP = Workflow.define("ship", String.class, String.class);

    @BeforeEach
    void register() {
        steadwork.register(PAY, SHIP);
    }

    @Test
    @Proves("TRIG-10")
    void a_workflow_has_a_queue_of_its_own_name() {
        assertThat(steadwork.workflow(PAY).trigger("x").info().queue()).isEqualTo("pay");
        assertThat(steadwork.workflow(SHIP).trigger("x").info().queue()).isEqualTo("ship");
    }

    @Test
    @Proves("TRIG-10")
    void workflows_may_share_a_queue_and_a_worker() {
        var pay = PAY.onQueue("orders");
        var ship = SHIP.onQueue("orders");
        steadwork
                .worker()
                .handle(pay, (ctx, order) -> "paid")
                .handle(ship, (ctx, order) -> "shipped")
                .start();

        var paid = steadwork.workflow(pay).trigger("x");
        var shipped = steadwork.workflow(ship).trigger("x");

        assertThat(paid.info().queue()).isEqualTo("orders");
        assertThat(paid.await(PATIENCE)).isEqualTo("paid");
        assertThat(shipped.await(PATIENCE)).isEqualTo("shipped");
    }

    @Test
    @Proves("TRIG-10")
    void the_trigger_may_choose_another_queue() {
        var vip = steadwork.workflow(PAY).queue("vip").trigger("vip");
        var common = steadwork.workflow(PAY).trigger("common");

        work(PAY, (ctx, order) -> "common worker");
        assertThat(common.await(PATIENCE)).isEqualTo("common worker");
        assertThat(vip.status()).isEqualTo(PENDING);

        steadwork
                .worker()
                .queue("vip")
                .handle(PAY, (ctx, order) -> "vip worker")
                .start();
        assertThat(vip.await(PATIENCE)).isEqualTo("vip worker");
    }

    @Test
    @Proves({"TRIG-10", "CLAIM-4"})
    void a_worker_told_its_queues_reads_only_those() {
        var other = steadwork.workflow(PAY).trigger("x");
        var first = steadwork.workflow(PAY).queue("a").trigger("x");
        var second = steadwork.workflow(PAY).queue("b").trigger("x");

        steadwork
                .worker()
                .queue("a")
                .queue("b")
                .handle(PAY, (ctx, order) -> "done")
                .start();

        assertThat(first.await(PATIENCE)).isEqualTo("done");
        assertThat(second.await(PATIENCE)).isEqualTo("done");
        assertThat(other.status()).isEqualTo(PENDING);
    }

    @Test
    @Proves("TRIG-10")
    void a_full_queue_does_not_hold_up_another() {
        steadwork.workflow(PAY).triggerAll(Collections.nCopies(500, "x"));
        work(SHIP, (ctx, order) -> "shipped");

        assertThat(steadwork.workflow(SHIP).trigger("x").await(PATIENCE)).isEqualTo("shipped");
    }
}
