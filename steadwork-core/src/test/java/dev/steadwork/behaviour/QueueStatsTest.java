package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.steadwork.QueueStats;
import dev.steadwork.QueueStats.OfType;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@Proves("OPS-1")
class QueueStatsTest extends EngineTest {
    private static final Workflow<String, String> PAY =
            Workflow.define("pay", String.class, String.class).onQueue("orders");
    private static final Workflow<String, String> SHIP =
            Workflow.define("ship", String.class, String.class).onQueue("orders");
    private static final Workflow<String, String> MAIL = Workflow.define("mail", String.class, String.class);

    @BeforeEach
    void register() {
        steadwork.register(PAY, SHIP, MAIL);
    }

    @Test
    void a_queue_without_runs_is_empty() {
        assertThat(steadwork.queues().stats())
                .containsExactly(
                        new QueueStats("mail", 0, 0, 0, 0, null, false, List.of()),
                        new QueueStats("orders", 0, 0, 0, 0, null, false, List.of()));
    }

    @Test
    void runs_are_counted_by_queue_and_type_and_what_they_wait_for() throws InterruptedException {
        var gate = new Gate();
        steadwork
                .worker()
                .concurrency(1)
                .handle(MAIL, (ctx, to) -> {
                    gate.pass();
                    return to;
                })
                .start();
        steadwork.workflow(MAIL).trigger("Ada");
        gate.awaitReached();
        steadwork.workflow(MAIL).trigger("Bob");
        steadwork.workflow(PAY).triggerAll(List.of("1", "2", "3"));
        steadwork.workflow(SHIP).trigger("1");
        steadwork.workflow(SHIP).delay(Duration.ofHours(1)).trigger("2");
        steadwork.workflow(SHIP).trigger("3").pause();
        steadwork.workflow(SHIP).trigger("4").cancel();
        steadwork.workflow(SHIP).trigger("5").delete("a test");
        steadwork.workflow(SHIP).queue("else").trigger("6");

        var stats = steadwork.queues().stats();

        gate.open();
        assertThat(stats).extracting(QueueStats::queue).containsExactly("else", "mail", "orders");
        var mail = stats.get(1);
        assertThat(mail.ready()).isEqualTo(1);
        assertThat(mail.running()).isEqualTo(1);
        var orders = stats.get(2);
        assertThat(orders.depth()).isEqualTo(6);
        assertThat(orders.ready()).isEqualTo(4);
        assertThat(orders.sleeping()).isEqualTo(1);
        assertThat(orders.paused()).isEqualTo(1);
        assertThat(orders.running()).isZero();
        assertThat(orders.atLeast()).isFalse();
        assertThat(orders.oldestReady()).isNotNull().isLessThan(PATIENCE);
        assertThat(orders.types())
                .usingRecursiveFieldByFieldElementComparatorIgnoringFields("oldestReady")
                .containsExactly(new OfType("pay", 3, 0, 0, 0, null), new OfType("ship", 1, 1, 0, 1, null));
        assertThat(orders.types()).extracting(OfType::oldestReady).doesNotContainNull();
    }

    @Test
    void a_run_that_waits_for_a_child_sleeps() {
        steadwork
                .worker()
                .handle(PAY, (ctx, order) -> ctx.child(SHIP, order).get())
                .start();
        steadwork.workflow(PAY).trigger("1");

        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(steadwork.queues().stats().get(1).types())
                                .extracting(OfType::type, OfType::ready, OfType::sleeping, OfType::running)
                                .containsExactly(tuple("pay", 0L, 1L, 0L), tuple("ship", 1L, 0L, 0L)));
    }

    @Test
    void the_age_is_that_of_the_run_that_has_been_ready_for_longest() {
        steadwork.workflow(PAY).trigger("old");
        await().pollDelay(Duration.ofMillis(600)).until(() -> true);
        steadwork.workflow(PAY).priority(5).trigger("new");

        assertThat(steadwork.queues().stats().get(1).oldestReady()).isBetween(Duration.ofMillis(600), PATIENCE);
    }

    @Test
    void other_namespaces_are_not_counted() {
        steadwork.workflow(PAY).trigger("1");

        assertThat(open(s -> s.namespace("elsewhere")).queues().stats()).isEmpty();
    }
}
