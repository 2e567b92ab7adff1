package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.RunStatus.PENDING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.RunError;
import dev.steadwork.RunFailedException;
import dev.steadwork.RunHandle;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.util.Arrays;
import java.util.Collections;
import org.junit.jupiter.api.Test;

class ClaimFilterTest extends EngineTest {
    @Test
    @Proves({"CLAIM-4", "CLAIM-9"})
    void a_type_that_no_handler_serves_stays_in_a_shared_queue() {
        var known = shared("known");
        var unknown = shared("unknown");
        var waiting = trigger(unknown);
        var served = trigger(known);

        work(known, (ctx, input) -> "known");

        assertThat(served.await(PATIENCE)).isEqualTo("known");
        assertThat(waiting.status()).isEqualTo(PENDING);
        assertThat(waiting.info().lease().epoch()).isZero();
    }

    @Test
    @Proves("CLAIM-9")
    void a_type_unknown_to_the_old_workers_is_executed_by_the_first_new_one() {
        var old = shared("old");
        var added = shared("added");
        work(old, (ctx, input) -> "old");
        var waiting = trigger(added);
        assertThat(trigger(old).await(PATIENCE)).isEqualTo("old");

        work(added, (ctx, input) -> "added");

        assertThat(waiting.await(PATIENCE)).isEqualTo("added");
    }

    @Test
    @Proves("CLAIM-4")
    void many_unserved_runs_ahead_do_not_hide_a_served_one() {
        var known = shared("known");
        var unknown = shared("unknown");
        steadwork.register(known, unknown);
        steadwork.workflow(unknown).priority(9).triggerAll(Collections.nCopies(500, "x"));
        var served = trigger(known);

        steadwork.worker().concurrency(2).handle(known, (ctx, input) -> "known").start();

        assertThat(served.await(PATIENCE)).isEqualTo("known");
    }

    @Test
    @Proves("CLAIM-4")
    void a_worker_that_claims_by_prefix_serves_every_type_of_it() {
        var invoice = own("billing.invoice");
        var refund = own("billing.refund");
        steadwork
                .worker()
                .typePrefix("billing.")
                .handle(invoice, (ctx, input) -> "invoiced")
                .handle(refund, (ctx, input) -> "refunded")
                .start();

        assertThat(trigger(invoice).await(PATIENCE)).isEqualTo("invoiced");
        assertThat(trigger(refund).await(PATIENCE)).isEqualTo("refunded");
    }

    @Test
    @Proves("CLAIM-4")
    void a_claimed_type_without_a_handler_fails_at_once_and_is_not_tried_again() {
        var invoice = own("billing.invoice");
        var unhandled = trigger(own("billing.refund"));

        steadwork
                .worker()
                .typePrefix("billing.")
                .handle(invoice, (ctx, input) -> "invoiced")
                .start();

        assertThatThrownBy(() -> unhandled.await(PATIENCE))
                .isInstanceOfSatisfying(
                        RunFailedException.class,
                        failure -> assertThat(failure.error().type()).isEqualTo(RunError.NO_HANDLER_REGISTERED))
                .hasMessageContaining("billing.refund");
        assertThat(unhandled.status()).isEqualTo(FAILED);
        assertThat(unhandled.info().attempt()).isEqualTo(1);
        assertThat(unhandled.info().lease().epoch()).isEqualTo(1);
        assertThat(trigger(invoice).await(PATIENCE)).isEqualTo("invoiced");
    }

    @Test
    @Proves("CLAIM-4")
    void a_type_that_only_resembles_the_prefix_is_left_alone() {
        assertLeftAlone("billing.", "billing.invoice", "billingx", "billing", "Billing.invoice", "xbilling.");
    }

    @Test
    @Proves("CLAIM-4")
    void an_underscore_in_a_prefix_is_an_ordinary_character() {
        assertLeftAlone("a_b.", "a_b.c", "axb.c", "a_bc");
    }

    @Test
    @Proves("CLAIM-4")
    void a_percent_sign_in_a_prefix_is_an_ordinary_character() {
        assertLeftAlone("50%", "50%-off", "500-off", "50");
    }

    @Test
    @Proves("CLAIM-4")
    void wildcards_of_other_tools_are_ordinary_characters_too() {
        assertLeftAlone("[ab]*\\", "[ab]*\\x", "a", "[ab]x", "ax\\x");
    }

    @Test
    @Proves("CLAIM-4")
    void a_worker_that_claims_by_prefix_finds_types_registered_later() {
        var first = own("billing.first");
        var later = own("billing.later");
        steadwork
                .worker()
                .typePrefix("billing.")
                .handle(first, (ctx, input) -> "first")
                .start();
        assertThat(trigger(first).await(PATIENCE)).isEqualTo("first");

        var run = trigger(later);

        assertThatThrownBy(() -> run.await(PATIENCE)).hasMessageContaining(RunError.NO_HANDLER_REGISTERED);
    }

    /** The types share a queue, so that only the filter by type keeps them apart. */
    private void assertLeftAlone(String prefix, String matching, String... others) {
        var served = shared(matching);
        var ignored = Arrays.stream(others).map(name -> trigger(shared(name))).toList();
        var run = trigger(served);

        steadwork
                .worker()
                .typePrefix(prefix)
                .handle(served, (ctx, input) -> "served")
                .start();

        assertThat(run.await(PATIENCE)).isEqualTo("served");
        assertThat(ignored).extracting(RunHandle::status).containsOnly(PENDING);
    }

    private static Workflow<String, String> own(String name) {
        return Workflow.define(name, String.class, String.class);
    }

    private static Workflow<String, String> shared(String name) {
        return own(name).onQueue("shared");
    }

    private RunHandle<String> trigger(Workflow<String, String> workflow) {
        steadwork.register(workflow);
        return steadwork.workflow(workflow).trigger("x");
    }
}
