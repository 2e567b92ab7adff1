package dev.steadwork.benchmarks.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** With processes of the shell that say what they do. */
class TurnsTest {
    private final List<String> worked = new CopyOnWriteArrayList<>();
    private final List<MeasuredProcess> all = new ArrayList<>();

    @Test
    void a_phase_begins_when_all_have_ended_the_one_before_and_passes_alternate() throws Exception {
        start("a", pass(0, "a-cold") + pass(1, "a-1") + pass(1, "a-2"));
        start("b", pass(0, "b-cold") + pass(0, "b-cold-again") + pass(1, "b-1") + pass(1, "b-2"));

        new Turns(all).run();

        assertThat(worked).containsExactly("a-cold", "b-cold", "b-cold-again", "a-1", "b-1", "a-2", "b-2");
    }

    @Test
    void who_asks_for_a_turn_is_stopped_until_it_has_it() throws Exception {
        var process = start("one", pass(0, "one"));

        all.get(0).awaitAsking();

        assertThat(stateOf(process)).startsWith("T");
        all.get(0).work(1);
        assertThat(worked).containsExactly("one");
    }

    @Test
    void who_ends_early_or_badly_does_not_hold_up_the_others() throws Exception {
        start("short", pass(0, "short"));
        start("bad", "exit 3");
        start("long", pass(0, "long-1") + pass(1, "long-2"));

        new Turns(all).run();

        assertThat(worked).containsExactly("short", "long-1", "long-2");
        assertThat(all.get(0).isGood()).isTrue();
        assertThat(all.get(1).isGood()).isFalse();
    }

    @Test
    void who_dies_while_it_waits_for_its_turn_does_not_hold_up_the_others() throws Exception {
        start("healthy", pass(0, "healthy"));
        var dying = start("dying", pass(1, "dying"));
        for (var each : all) {
            each.awaitAsking();
        }
        dying.destroyForcibly().waitFor();

        all.get(1).work(1);
        all.get(0).work(2);

        assertThat(worked).containsExactly("healthy");
        assertThat(all.get(0).isGood()).isTrue();
        assertThat(all.get(1).isGood()).isFalse();
    }

    private Process start(String name, String script) throws IOException {
        var process = new ProcessBuilder("sh", "-c", script).start();
        all.add(new MeasuredProcess(
                Measurement.of("1", name, Map.of()), process, (metric, value) -> worked.add(metric)));
        return process;
    }

    private static String stateOf(Process process) throws IOException {
        var ps = new ProcessBuilder("ps", "-o", "state=", "-p", Long.toString(process.pid())).start();
        return new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
    }

    private static String pass(int phase, String name) {
        return "echo TURN %d; read go; echo RESULT %s 1; ".formatted(phase, name);
    }
}
