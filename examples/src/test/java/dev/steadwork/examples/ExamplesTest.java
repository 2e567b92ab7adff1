package dev.steadwork.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Every example ends by itself and prints what it is meant to show. */
@Timeout(60)
class ExamplesTest {
    @TempDir
    Path folder;

    /** What a main does. */
    private interface Main {
        void run(String... args) throws Exception;
    }

    @Test
    void quickstart_greets() throws Exception {
        assertThat(output(Quickstart::main)).containsExactly("Hello, Ada!");
    }

    @Test
    void checkout_charges_and_ships() throws Exception {
        assertThat(output(Checkout::main))
                .hasSize(4)
                .anySatisfy(line -> assertThat(line).startsWith("started run "))
                .containsSubsequence(
                        "charging order-1", "shipping order-1", "Receipt[order=order-1, payment=p-42, parcel=t-7]");
    }

    @Test
    void retry_example_succeeds_at_the_third_attempt() throws Exception {
        assertThat(output(RetryExample::main))
                .containsExactly(
                        "ACME costs 42",
                        "attempt 1 failed: the exchange is busy",
                        "attempt 2 failed: the exchange is busy",
                        "attempt 3 succeeded");
    }

    @Test
    void sleep_example_sleeps_at_the_same_time() throws Exception {
        assertThat(output(SleepExample::main))
                .singleElement()
                .asString()
                .matches("10 runs slept 1 s each, one slot, [1-9][.,]\\d s in all");
    }

    @Test
    void schedule_example_fires_by_the_clock_and_by_hand() throws Exception {
        assertThat(output(ScheduleExample::main))
                .containsExactly(
                        "by the clock: report on sales",
                        "by hand: report on sales",
                        "filled in: 2026-03-28T01:30:00Z",
                        "filled in: 2026-03-29T01:00:00Z");
    }

    @Test
    void idempotency_example_finds_the_first_run() throws Exception {
        assertThat(output(IdempotencyExample::main))
                .containsExactly(
                        "same run: true", "second trigger found it: true", "new run after the first has ended: true");
    }

    @Test
    void delayed_and_priority_example_delivers_in_order_of_urgency() throws Exception {
        assertThat(output(DelayedAndPriorityExample::main))
                .containsExactly("delivered: urgent", "delivered: ordinary", "delivered: delayed");
    }

    @Test
    void cancel_example_ends_both_runs() throws Exception {
        assertThat(output(CancelExample::main)).containsExactly("sleeping run: CANCELLED", "running run: CANCELLED");
    }

    @Test
    void dead_letter_example_hands_the_failed_run_over() throws Exception {
        assertThat(output(DeadLetterExample::main))
                .containsExactlyInAnyOrder(
                        "failed: step parse: dev.steadwork.PermanentFailure: cats.jpg is not a table",
                        "to review: import with input \"cats.jpg\", cats.jpg is not a table");
    }

    @Test
    void operator_example_approves_each_payment_once() throws Exception {
        assertThat(output(OperatorExample::main))
                .containsExactlyInAnyOrder(
                        "approving 10",
                        "approving 20",
                        "approving 30",
                        "failed: the bank is closed",
                        "failed: the bank is closed",
                        "failed: the bank is closed",
                        "3 failed, 3 retried",
                        "approved, 10 to Ada",
                        "approved, 20 to Bob",
                        "approved, 30 to Eve",
                        "approved, 30 to Eva",
                        "4 deleted");
    }

    @Test
    void caller_transaction_example_has_no_run_after_a_rollback() throws Exception {
        assertThat(output(CallerTransactionExample::main))
                .containsExactly("after the rollback: 0 runs", "after the commit: 1 run", "welcome mail to Ada");
    }

    @Test
    void events_example_tells_what_happened_and_who_asked_for_it() throws Exception {
        assertThat(output(EventsExample::main))
                .containsExactly(
                        "paid by Ada",
                        "created",
                        "leased",
                        "started",
                        "step_completed reserve",
                        "step_failed charge",
                        "failed",
                        "retried by alice: the bank is open",
                        "leased",
                        "step_completed charge",
                        "succeeded");
    }

    @Test
    void webhook_example_gets_signed_events_in_order() throws Exception {
        assertThat(output(WebhookExample::main))
                .containsExactly(
                        "dev.steadwork.run.created",
                        "dev.steadwork.run.started",
                        "dev.steadwork.run.succeeded",
                        "given up: 0");
    }

    @Test
    void graceful_shutdown_example_repeats_nothing() throws Exception {
        assertThat(output(GracefulShutdownExample::main))
                .containsExactly(
                        "kneaded", "early worker closed: run is PENDING, 1 step kept", "late worker: cake is ready");
    }

    @Test
    void workers_are_listed_and_drained() throws Exception {
        assertThat(output(WorkersExample::main))
                .containsExactly(
                        "1.0 greets Ada",
                        "new 1.1 serves [greet]: ONLINE",
                        "old 1.0 serves [greet]: DRAINING",
                        "online: 1",
                        "1.1 greets Bob");
    }

    @Test
    void prefixes_and_namespaces_example_stays_in_its_namespace() throws Exception {
        assertThat(output(PrefixesAndNamespacesExample::main))
                .containsExactly(
                        "north: invoice for Ada",
                        "north: refund failed with no_handler_registered",
                        "south: billing.invoice is PENDING",
                        "south: Namespace south is disabled and takes no triggers; workflow billing.invoice was not triggered. Enable it with steadwork.namespaces().enable(\"south\"), then trigger again.");
    }

    @Test
    void fleet_limits_example_executes_one_export_per_customer_at_once() throws Exception {
        assertThat(output(FleetLimitsExample::main))
                .containsExactly("small customer served before the big one's backlog: true", "at once, at most: 2");
    }

    @Test
    void error_handling_example_takes_the_second_way_and_is_retried() throws Exception {
        assertThat(output(ErrorHandlingExample::main))
                .containsExactly(
                        "mailing Ada",
                        "step letter: dev.steadwork.PermanentFailure: the printer is off",
                        "letter to Ada");
    }

    @Test
    void fan_out_example_asks_all_shops_at_once() throws Exception {
        assertThat(output(FanOutExample::main))
                .containsExactly(
                        "best: Offer[shop=south, cents=3900]",
                        "step 1: ask north",
                        "step 2: ask south",
                        "step 3: ask east",
                        "step 4: order");
    }

    @Test
    void map_reduce_example_counts_words() throws Exception {
        assertThat(output(MapReduceExample::main))
                .containsExactly("9 steps, 34 words", "it: 10", "of: 10", "the: 11", "was: 10");
    }

    @Test
    void long_running_example_keeps_its_lease_and_is_cancelled_cleanly() throws Exception {
        assertThat(output(LongRunningExample::main))
                .containsExactly(
                        "executing: write",
                        "the file is complete",
                        "took 2.5 leases, lost 0",
                        "executing: write",
                        "half a file is removed",
                        "now CANCELLED");
    }

    @Test
    void saga_example_undoes_in_reverse() throws Exception {
        assertThat(output(SagaExample::main))
                .containsExactly(
                        "flight booked to Venice",
                        "hotel booked in Venice",
                        "hotel cancelled",
                        "flight cancelled",
                        "failed: no cars in Venice");
    }

    @Test
    void approval_example_hears_decisions_and_gives_up_waiting() throws Exception {
        assertThat(output(ApprovalExample::main))
                .containsExactly("tickets: paid, says Ada", "yacht: refused by Ada", "coffee: paid: nobody objected");
    }

    @Test
    void children_example_waits_for_parcels_and_not_for_the_survey() throws Exception {
        assertThat(output(ChildrenExample::main))
                .containsExactly(
                        "order-1: books packed, records packed, lamp packed",
                        "step survey is COMPLETED",
                        "asked how they liked order-1");
    }

    @Test
    void multi_queue_example_keeps_queues_apart_and_heeds_priorities() throws Exception {
        assertThat(output(MultiQueueExample::main))
                .containsExactly(
                        "rendered: preview",
                        "waiting in nightly: 3",
                        "rendered: front page",
                        "rendered: catalogue",
                        "rendered: archive");
    }

    @Test
    void transaction_example_moves_money_once_or_not_at_all() throws Exception {
        assertThat(output(TransactionExample::main))
                .containsExactly("Ada has 7000 left", "failed: Ada has not enough", "Ada: 7000", "Grace: 3000");
    }

    @Test
    void changed_code_example_keeps_the_old_path_for_the_old_run() throws Exception {
        assertThat(output(ChangedCodeExample::main))
                .containsExactly(
                        "order-1 charged", "order-2 checked", "order-2 charged", "order-1 shipped", "order-2 shipped");
    }

    private List<String> output(Main example) throws Exception {
        var printed = new ByteArrayOutputStream();
        var standard = System.out;
        System.setOut(new PrintStream(printed, true, UTF_8));
        try {
            example.run("jdbc:sqlite:" + folder.resolve("app.db"));
        } finally {
            System.setOut(standard);
        }
        return printed.toString(UTF_8).lines().toList();
    }
}
