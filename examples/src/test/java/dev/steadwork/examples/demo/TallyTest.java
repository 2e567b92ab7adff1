package dev.steadwork.examples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.examples.demo.AttemptLog.Entry;
import dev.steadwork.examples.demo.AttemptLog.Event;
import dev.steadwork.examples.demo.Tally.Seen;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The demo's count would show a lost order or a repeated step if there were one. */
class TallyTest {
    private static final long EARLIER_WORKER = 1;
    private static final long LATER_WORKER = 2;

    private final RunId run = new RunId(UUID.randomUUID());
    private final List<Entry> begunTwice = List.of(started(EARLIER_WORKER), started(LATER_WORKER));

    @Test
    void a_step_that_begins_again_although_its_result_is_kept_is_repeated() {
        var tally = Tally.of(begunTwice, Map.of(run, keptBy(EARLIER_WORKER)));

        assertThat(tally.repeated()).isEqualTo(1);
        assertThat(tally.interrupted()).isZero();
        assertThat(tally.isClean()).isFalse();
    }

    @Test
    void a_step_that_began_before_the_one_whose_result_is_kept_was_interrupted() {
        var tally = Tally.of(begunTwice, Map.of(run, keptBy(LATER_WORKER)));

        assertThat(tally.interrupted()).isEqualTo(1);
        assertThat(tally.repeated()).isZero();
        assertThat(tally.isClean()).isTrue();
    }

    @Test
    void an_accepted_order_that_the_database_does_not_know_is_lost() {
        var accepted = new Entry(Instant.EPOCH, Event.ACCEPTED, run, "", 0, 1, 1);

        var tally = Tally.of(List.of(accepted), Map.of());

        assertThat(tally.lost()).isEqualTo(1);
        assertThat(tally.isClean()).isFalse();
    }

    @Test
    void an_order_that_has_not_ended_is_lost() {
        var tally = Tally.of(List.of(), Map.of(run, new Seen(RunStatus.SLEEPING, Map.of())));

        assertThat(tally.lost()).isEqualTo(1);
    }

    private Entry started(long pid) {
        return new Entry(Instant.EPOCH, Event.STARTED, run, "ship", 1, pid, 1);
    }

    private Seen keptBy(long pid) {
        return new Seen(RunStatus.COMPLETED, Map.of("ship", started(pid).executor()));
    }
}
