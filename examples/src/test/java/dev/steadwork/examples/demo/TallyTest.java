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
    private static final Instant CHECKPOINT = Instant.parse("2026-01-01T00:00:10Z");

    private final RunId run = new RunId(UUID.randomUUID());
    private final Seen completed = new Seen(RunStatus.COMPLETED, Map.of("ship", CHECKPOINT));

    @Test
    void a_step_that_begins_after_its_checkpoint_is_repeated() {
        var entries = List.of(started(CHECKPOINT.minusSeconds(1)), started(CHECKPOINT.plusSeconds(1)));

        var tally = Tally.of(entries, Map.of(run, completed));

        assertThat(tally.repeated()).isEqualTo(1);
        assertThat(tally.interrupted()).isZero();
        assertThat(tally.isClean()).isFalse();
    }

    @Test
    void a_step_that_began_twice_before_its_checkpoint_was_interrupted() {
        var entries = List.of(started(CHECKPOINT.minusSeconds(5)), started(CHECKPOINT.minusSeconds(1)));

        var tally = Tally.of(entries, Map.of(run, completed));

        assertThat(tally.interrupted()).isEqualTo(1);
        assertThat(tally.repeated()).isZero();
        assertThat(tally.isClean()).isTrue();
    }

    @Test
    void an_accepted_order_that_the_database_does_not_know_is_lost() {
        var entries = List.of(new Entry(CHECKPOINT, Event.ACCEPTED, run, "", 0, 1));

        var tally = Tally.of(entries, Map.of());

        assertThat(tally.lost()).isEqualTo(1);
        assertThat(tally.isClean()).isFalse();
    }

    @Test
    void an_order_that_has_not_ended_is_lost() {
        var tally = Tally.of(List.of(), Map.of(run, new Seen(RunStatus.SLEEPING, Map.of())));

        assertThat(tally.lost()).isEqualTo(1);
    }

    private Entry started(Instant at) {
        return new Entry(at, Event.STARTED, run, "ship", 1, 1);
    }
}
