package dev.steadwork.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.RetryPolicy;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Workflow;
import dev.steadwork.testing.Proves;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who is there: definitions and workers. */
interface RegistryRules extends StoreRules {

    @Test
    @Proves("TRIG-5")
    default void a_definition_replaces_the_one_before() {
        var workflow = Workflow.define(TYPE, String.class, String.class);
        register(workflow.onQueue("old").retry(RetryPolicy.none()).timeout(Duration.ofDays(1)));
        register(workflow.onQueue("new"));
        register();

        var run = info(create(aRun().check(TriggerCheck.REQUIRE_REGISTERED)));

        assertThat(run.queue()).isEqualTo("new");
        assertThat(run.retry()).isEqualTo(RetryPolicy.defaults());
        assertThat(run.times().deadline()).isNull();
    }

    @Test
    @Proves("CLAIM-4")
    default void the_queues_of_a_prefix_are_those_of_the_definitions_it_matches() {
        register(
                Workflow.define("billing.invoice", String.class, String.class).onQueue("money"),
                Workflow.define("billing.refund", String.class, String.class).onQueue("money"),
                Workflow.define("billing_other", String.class, String.class),
                Workflow.define("mail", String.class, String.class));

        assertThat(store().queuesOfPrefixes(namespace(), List.of("billing."))).containsExactly("money");
        assertThat(store().queuesOfPrefixes(namespace(), List.of("billing", "ma")))
                .containsExactlyInAnyOrder("money", "billing_other", "mail");
        assertThat(store().queuesOfPrefixes(namespace(), List.of("b%", "_ail"))).isEmpty();
        assertThat(store().queuesOfPrefixes(namespace() + "-b", List.of("billing.")))
                .isEmpty();
    }

    @Test
    @Proves({"WORKER-1", "WORKER-2"})
    default void a_worker_is_registered_once_and_its_totals_are_kept() throws SQLException {
        registerWorker(List.of(TYPE), List.of());
        store().heartbeat(new Heartbeat(namespace(), WORKER, List.of(), 3, 10, 1, false));
        store().heartbeat(new Heartbeat(namespace(), WORKER, List.of(), 2, 5, 2, true));
        assertThat(worker()).isEqualTo("DRAINING active 2 completed 15 failed 3");

        store().deregisterWorker(namespace(), WORKER);
        assertThat(worker()).isEqualTo("OFFLINE active 0 completed 15 failed 3");

        registerWorker(List.of(TYPE), List.of());
        assertThat(worker()).isEqualTo("ONLINE active 0 completed 15 failed 3");
    }

    private String worker() throws SQLException {
        var sql = "SELECT status, active, completed, failed FROM %s WHERE namespace = '%s'"
                .formatted(table("worker"), namespace());
        try (var connection = connect();
                var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            assertThat(rows.next()).isTrue();
            var worker = "%s active %d completed %d failed %d"
                    .formatted(rows.getString(1), rows.getInt(2), rows.getLong(3), rows.getLong(4));
            assertThat(rows.next()).as("a second worker").isFalse();
            return worker;
        }
    }
}
