package dev.steadwork.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** For every rule a history that keeps it and one that breaks it. */
class CheckerTest {
    private static final String RUN = "run-1";
    private static final String OUTPUT = "c#1 by w1@1: w1-1@1";

    private final Story story = new Story();

    /** Accepted, executed once, seen by its client. */
    private Story good() {
        return story.add("c", Kind.ASKED, "", "", 0, "c#1")
                .add("c", Kind.ACCEPTED, RUN, "", 0, "c#1")
                .worked("w1", RUN, 1, "w1-1@1", OUTPUT)
                .add("c", Kind.SEEN, RUN, "", 0, OUTPUT)
                .run(RUN, "steps", "COMPLETED", "", OUTPUT)
                .step(RUN, "a", "FUNCTION", "w1-1@1");
    }

    @Test
    void a_run_without_a_fault_breaks_no_rule() {
        assertThat(good().broken()).isEmpty();
    }

    @Test
    void a_run_that_was_taken_over_breaks_no_rule() {
        var output = "c#1 by w2@3: w2-1@3";
        story.add("c", Kind.ACCEPTED, RUN, "", 0, "c#1")
                .add("w1", Kind.ENTERED, RUN, "steps", 1, "")
                .add("w1", Kind.EXECUTED, RUN, "a", 1, "w1-1@1")
                .worked("w2", RUN, 3, "w2-1@3", output)
                .run(RUN, "steps", "COMPLETED", "", output)
                .step(RUN, "a", "FUNCTION", "w2-1@3");

        assertThat(story.broken()).isEmpty();
    }

    @Test
    void an_accepted_run_that_is_not_in_the_database_is_lost() {
        good().add("c", Kind.ACCEPTED, "run-2", "", 0, "c#2");

        assertThat(story.broken()).containsExactly(Rule.ACCEPTED_RUNS_END);
    }

    @Test
    void a_run_that_never_ends_is_stuck() {
        good().add("c", Kind.ACCEPTED, "run-2", "", 0, "c#2").run("run-2", "steps", "SLEEPING", "", "");

        assertThat(story.broken()).containsExactly(Rule.ACCEPTED_RUNS_END);
    }

    @Test
    void a_run_that_failed_was_not_kept_alive() {
        good().run("run-2", "steps", "FAILED", "", "");

        assertThat(story.broken()).containsExactly(Rule.ACCEPTED_RUNS_END);
    }

    @Test
    void a_step_that_gave_another_result_than_is_recorded_is_found() {
        good().add("w2", Kind.KEPT, RUN, "a", 1, "w2-9@1");

        assertThat(story.broken()).containsExactly(Rule.ONE_RESULT_PER_STEP);
    }

    @Test
    void a_step_that_was_acknowledged_and_is_not_recorded_is_found() {
        good().add("w1", Kind.KEPT, RUN, "b", 1, "w1-2@1");

        assertThat(story.broken()).containsExactly(Rule.ONE_RESULT_PER_STEP);
    }

    @Test
    void a_recorded_result_that_nobody_made_is_found() {
        good().step(RUN, "b", "FUNCTION", "w1-2@1");

        assertThat(story.broken()).containsExactly(Rule.ONE_RESULT_PER_STEP);
    }

    @Test
    void a_step_of_a_zombie_that_was_recorded_after_the_next_claim_is_found() {
        var output = "c#1 by w2@3: w1-1@1";
        story.add("c", Kind.ACCEPTED, RUN, "", 0, "c#1")
                .add("w1", Kind.ENTERED, RUN, "steps", 1, "")
                .add("w1", Kind.EXECUTED, RUN, "a", 1, "w1-1@1")
                .add("w2", Kind.ENTERED, RUN, "steps", 3, "")
                .add("w2", Kind.EXECUTED, RUN, "a", 3, "w2-1@3")
                .add("w2", Kind.RETURNED, RUN, "", 3, output)
                .run(RUN, "steps", "COMPLETED", "", output)
                .step(RUN, "a", "FUNCTION", "w1-1@1");

        assertThat(story.broken()).containsExactly(Rule.NO_STALE_WRITE);
    }

    @Test
    void an_end_by_a_zombie_is_found() {
        good().add("w2", Kind.ENTERED, RUN, "steps", 3, "");

        assertThat(story.broken()).containsExactly(Rule.NO_STALE_WRITE);
    }

    @Test
    void a_zombie_that_executes_what_another_worker_has_kept_breaks_no_rule() {
        var output = "c#1 by w2@3: w2-1@3";
        story.add("w1", Kind.ENTERED, RUN, "steps", 1, "")
                .worked("w2", RUN, 3, "w2-1@3", output)
                .add("w1", Kind.EXECUTED, RUN, "a", 1, "w1-1@1")
                .run(RUN, "steps", "COMPLETED", "", output)
                .step(RUN, "a", "FUNCTION", "w2-1@3");

        assertThat(story.broken()).isEmpty();
    }

    @Test
    void a_step_executed_again_by_the_next_claim_after_it_was_acknowledged_is_found() {
        var output = "c#1 by w2@3: w2-1@3";
        story.add("w1", Kind.ENTERED, RUN, "steps", 1, "")
                .add("w1", Kind.EXECUTED, RUN, "a", 1, "w2-1@3")
                .add("w1", Kind.KEPT, RUN, "a", 1, "w2-1@3")
                .worked("w2", RUN, 3, "w2-1@3", output)
                .run(RUN, "steps", "COMPLETED", "", output)
                .step(RUN, "a", "FUNCTION", "w2-1@3");

        assertThat(story.broken()).containsExactly(Rule.NOT_EXECUTED_AGAIN);
    }

    @Test
    void a_step_executed_again_under_the_same_claim_after_it_was_acknowledged_is_found() {
        good().add("w1", Kind.EXECUTED, RUN, "a", 1, "w1-2@1");

        assertThat(story.broken()).containsExactly(Rule.NOT_EXECUTED_AGAIN);
    }

    @Test
    void a_key_that_two_clients_used_is_one_run() {
        good().add("c", Kind.ACCEPTED, RUN, "key-1", 0, "c#1")
                .add("d", Kind.ACCEPTED, RUN, "key-1", 1, "d#1")
                .run(RUN, "steps", "COMPLETED", "key-1", OUTPUT);

        assertThat(story.broken()).isEmpty();
    }

    @Test
    void a_key_with_two_runs_is_found() {
        good().add("c", Kind.ACCEPTED, RUN, "key-1", 0, "c#1").add("d", Kind.ACCEPTED, "run-2", "key-1", 1, "d#1");
        story.worked("w1", "run-2", 1, "w1-5@1", "d#1 by w1@1: w1-5@1")
                .run("run-2", "steps", "COMPLETED", "", "d#1 by w1@1: w1-5@1")
                .step("run-2", "a", "FUNCTION", "w1-5@1");

        assertThat(story.broken()).containsExactly(Rule.ONE_RUN_PER_KEY);
    }

    @Test
    void a_key_that_was_new_twice_is_found() {
        good().add("c", Kind.ACCEPTED, RUN, "key-1", 0, "c#1").add("c", Kind.ACCEPTED, RUN, "key-1", 0, "c#1");

        assertThat(story.broken()).containsExactly(Rule.ONE_RUN_PER_KEY);
    }

    @Test
    void a_key_with_two_runs_in_the_database_is_found() {
        good().run(RUN, "steps", "COMPLETED", "key-1", OUTPUT).run("run-2", "steps", "COMPLETED", "key-1", "");

        assertThat(story.broken()).containsExactly(Rule.ONE_RUN_PER_KEY);
    }

    @Test
    void a_parent_with_the_result_of_its_child_breaks_no_rule() {
        good().step("parent", "child-0", "CHILD", OUTPUT, null, RUN)
                .add("w1", Kind.KEPT, "parent", "child-0", 1, OUTPUT);

        assertThat(story.broken()).isEmpty();
    }

    @Test
    void a_parent_with_another_result_than_its_child_is_found() {
        good().step("parent", "child-0", "CHILD", "c#1 by w2@3: w2-1@3", null, RUN);

        assertThat(story.broken()).containsExactly(Rule.CHILD_RESULTS);
    }

    @Test
    void a_child_that_is_gone_is_found() {
        good().step("parent", "child-0", "CHILD", OUTPUT, null, "run-9");

        assertThat(story.broken()).containsExactly(Rule.CHILD_RESULTS);
    }

    @Test
    void a_sleep_that_lasted_breaks_no_rule() {
        good().add("w1", Kind.ASLEEP, RUN, "nap", 1, "500")
                .step(RUN, "nap", "SLEEP", "", story.now() + 500_000, "")
                .pass(600)
                .add("w2", Kind.WOKEN, RUN, "nap", 2, "");

        assertThat(story.broken()).isEmpty();
    }

    @Test
    void a_sleep_that_was_shorter_than_asked_is_found() {
        good().add("w1", Kind.ASLEEP, RUN, "nap", 1, "500").pass(400).add("w2", Kind.WOKEN, RUN, "nap", 2, "");

        assertThat(story.broken()).containsExactly(Rule.SLEEPS_LAST);
    }

    @Test
    void a_sleep_that_ended_before_its_recorded_time_is_found() {
        good().add("w1", Kind.ASLEEP, RUN, "nap", 1, "500")
                .step(RUN, "nap", "SLEEP", "", story.now() + 900_000, "")
                .pass(600)
                .add("w2", Kind.WOKEN, RUN, "nap", 2, "");

        assertThat(story.broken()).containsExactly(Rule.SLEEPS_LAST);
    }

    @Test
    void a_sleep_that_was_recorded_too_short_is_found() {
        good().add("w1", Kind.ASLEEP, RUN, "nap", 1, "500")
                .step(RUN, "nap", "SLEEP", "", story.now() + 400_000, "")
                .pass(600)
                .add("w2", Kind.WOKEN, RUN, "nap", 2, "");

        assertThat(story.broken()).containsExactly(Rule.SLEEPS_LAST);
    }

    @Test
    void slots_that_each_fired_one_run_break_no_rule() {
        tick("t-1").firing(7, "FIRED", "t-1");
        tick("t-2").firing(8, "FIRED", "t-2");

        assertThat(story.broken()).isEmpty();
    }

    @Test
    void a_slot_that_is_missing_is_found() {
        tick("t-1").firing(7, "FIRED", "t-1");
        tick("t-2").firing(9, "FIRED", "t-2");

        assertThat(story.broken()).containsExactly(Rule.SLOTS_FIRE_ONCE);
    }

    @Test
    void a_slot_that_was_skipped_is_found() {
        tick("t-1").firing(7, "FIRED", "t-1").firing(8, "SKIPPED", "");

        assertThat(story.broken()).containsExactly(Rule.SLOTS_FIRE_ONCE);
    }

    @Test
    void a_run_of_the_schedule_without_a_slot_is_found() {
        tick("t-1").firing(7, "FIRED", "t-1");
        tick("t-2");

        assertThat(story.broken()).containsExactly(Rule.SLOTS_FIRE_ONCE);
    }

    private Story tick(String run) {
        return story.run(run, "tick", "COMPLETED", "", "");
    }

    @Test
    void an_effect_that_happened_once_breaks_no_rule() {
        debit().effect(RUN, "w1-2@1");

        assertThat(story.broken()).isEmpty();
    }

    @Test
    void an_effect_that_happened_twice_is_found() {
        debit().effect(RUN, "w1-2@1").effect(RUN, "w1-3@1");

        assertThat(story.broken()).containsExactly(Rule.EFFECTS_HAPPEN_ONCE);
    }

    @Test
    void an_effect_that_never_happened_is_found() {
        assertThat(debit().broken()).containsExactly(Rule.EFFECTS_HAPPEN_ONCE);
    }

    @Test
    void an_effect_without_its_checkpoint_is_found() {
        good().effect(RUN, "w1-2@1");

        assertThat(story.broken()).containsExactly(Rule.EFFECTS_HAPPEN_ONCE);
    }

    private Story debit() {
        return good().add("w1", Kind.EXECUTED, RUN, "debit", 1, "w1-2@1").step(RUN, "debit", "TRANSACTION", "w1-2@1");
    }

    @Test
    void a_signal_that_was_taken_breaks_no_rule() {
        good().add("c", Kind.SENDING, RUN, "go", 0, "c#1")
                .add("c", Kind.SENT, RUN, "go", 0, "c#1")
                .step(RUN, "go", "EVENT", "c#1");

        assertThat(story.broken()).isEmpty();
    }

    @Test
    void a_signal_that_was_sent_in_time_and_not_taken_is_found() {
        good().add("c", Kind.SENDING, RUN, "go", 0, "c#1").add("c", Kind.SENT, RUN, "go", 0, "c#1");
        story.step(RUN, "go", "EVENT", "c#1", story.now() + 1_000_000, "").add("w1", Kind.TIMED_OUT, RUN, "go", 2, "");

        assertThat(story.broken()).containsExactly(Rule.SIGNALS_ARRIVE);
    }

    @Test
    void a_signal_that_came_too_late_breaks_no_rule() {
        good().step(RUN, "go", "EVENT", "c#1", story.now() - 1_000, "")
                .add("c", Kind.SENDING, RUN, "go", 0, "c#1")
                .add("c", Kind.SENT, RUN, "go", 0, "c#1")
                .add("w1", Kind.TIMED_OUT, RUN, "go", 2, "");

        assertThat(story.broken()).isEmpty();
    }

    @Test
    void a_signal_that_nobody_sent_is_found() {
        good().step(RUN, "go", "EVENT", "c#9");

        assertThat(story.broken()).containsExactly(Rule.SIGNALS_ARRIVE);
    }

    @Test
    void a_client_that_saw_another_result_is_found() {
        good().add("c", Kind.SEEN, RUN, "", 0, "c#1 by w2@3: w2-1@3");

        assertThat(story.broken()).containsExactly(Rule.ANSWERS_ARE_TRUE);
    }

    @Test
    void a_run_that_was_not_made_from_what_was_asked_is_found() {
        good().add("c", Kind.ACCEPTED, RUN, "", 0, "c#7");

        assertThat(story.broken()).containsExactly(Rule.ANSWERS_ARE_TRUE);
    }

    @Test
    void a_violation_names_its_run_its_rule_and_the_lines() {
        good().add("w2", Kind.KEPT, RUN, "a", 1, "w2-9@1");

        var violation = Checker.check(story.evidence()).get(0);

        assertThat(violation.toString()).contains("ONE_RESULT_PER_STEP", RUN, "w2-9@1", "w1-1@1");
        assertThat(violation.lines()).extracting(Fact::kind).contains(Kind.EXECUTED, Kind.KEPT);
    }
}
