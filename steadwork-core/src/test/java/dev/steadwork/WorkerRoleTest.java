package dev.steadwork;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How the environment narrows what a worker serves. */
class WorkerRoleTest {

    @Test
    @Proves("WORKER-1")
    void without_a_role_nothing_changes() {
        var spec = spec(Set.of("orders"), Set.of(), "pay", "ship");

        assertThat(role(null, "").narrow(spec)).isEqualTo(spec);
    }

    @Test
    @Proves("WORKER-1")
    void a_worker_that_names_no_queue_reads_those_of_the_role() {
        var narrowed = role("vip, bulk", null).narrow(spec(Set.of(), Set.of(), "pay", "ship"));

        assertThat(narrowed.queues()).containsExactlyInAnyOrder("vip", "bulk");
        assertThat(narrowed.handlers()).containsOnlyKeys("pay", "ship");
    }

    @Test
    @Proves("WORKER-1")
    void a_worker_that_names_queues_reads_those_that_the_role_names_too() {
        var narrowed = role("vip,bulk", null).narrow(spec(Set.of("vip", "orders"), Set.of(), "pay"));

        assertThat(narrowed.queues()).containsExactly("vip");
    }

    @Test
    @Proves("WORKER-1")
    void a_worker_of_another_role_takes_nothing() {
        assertThat(role("bulk", null)
                        .narrow(spec(Set.of("orders"), Set.of(), "pay"))
                        .handlers())
                .isEmpty();
        assertThat(role(null, "mail.")
                        .narrow(spec(Set.of(), Set.of("billing."), "billing.pay"))
                        .handlers())
                .isEmpty();
    }

    @Test
    @Proves("WORKER-1")
    void only_types_with_a_prefix_of_the_role_are_served() {
        var narrowed =
                role(null, "billing.,mail.").narrow(spec(Set.of(), Set.of(), "billing.pay", "mail.send", "ship"));

        assertThat(narrowed.handlers()).containsOnlyKeys("billing.pay", "mail.send");
        assertThat(narrowed.typePrefixes())
                .as("it claims no types without a handler")
                .isEmpty();
    }

    @Test
    @Proves("WORKER-1")
    void of_two_prefixes_the_longer_one_counts() {
        var narrowed = role(null, "billing.eu.,mail")
                .narrow(spec(Set.of(), Set.of("billing.", "mail.out."), "billing.eu.pay"));

        assertThat(narrowed.typePrefixes()).containsExactlyInAnyOrder("billing.eu.", "mail.out.");
    }

    @Test
    @Proves("WORKER-1")
    void a_bad_name_is_refused() {
        assertThatThrownBy(() -> role("vip,,bulk", null))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("STEADWORK_WORKER_QUEUES");
    }

    private static WorkerRole role(String queues, String prefixes) {
        var environment = new LinkedHashMap<String, String>();
        environment.put("STEADWORK_WORKER_QUEUES", queues);
        environment.put("STEADWORK_WORKER_TYPE_PREFIXES", prefixes);
        return WorkerRole.of(environment::get);
    }

    private static WorkerBuilder.Spec spec(Set<String> queues, Set<String> prefixes, String... types) {
        var handlers = new LinkedHashMap<String, WorkerBuilder.Handling<?, ?>>();
        for (var type : types) {
            handlers.put(
                    type,
                    new WorkerBuilder.Handling<>(
                            Workflow.define(type, String.class, String.class), (ctx, input) -> input));
        }
        return new WorkerBuilder.Spec(
                "worker", handlers, queues, prefixes, Set.of(), 1, Map.of(), Duration.ZERO, null, Map.of());
    }
}
