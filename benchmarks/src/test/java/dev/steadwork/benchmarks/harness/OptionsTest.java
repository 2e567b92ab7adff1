package dev.steadwork.benchmarks.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionsTest {
    private static Options parse(String... words) {
        return Options.parse(List.of(words), Path.of("home"));
    }

    @Test
    void everything_but_nosync_is_measured_three_times() {
        var options = parse();

        assertThat(options.rounds()).isEqualTo(3);
        assertThat(options.parts()).doesNotContain(Part.NOSYNC).hasSize(Part.values().length - 1);
        assertThat(options.peersOf(Part.QUEUE)).isEqualTo(Part.QUEUE.peers());
        assertThat(options.finished()).containsExactly(0L, 1_000_000L, 5_000_000L);
        assertThat(options.growthEnds()).isFalse();
    }

    @Test
    void growth_may_be_measured_at_its_ends_only() {
        assertThat(parse("--growth-ends", "--parts", "growth").growthEnds()).isTrue();
    }

    @Test
    void parts_and_peers_are_chosen() {
        var options = parse("--quick", "--parts", "queue,latency", "--peers", "raw,steadwork", "mine");

        assertThat(options.rounds()).isEqualTo(1);
        assertThat(options.parts()).containsExactly(Part.QUEUE, Part.LATENCY);
        assertThat(options.peersOf(Part.QUEUE)).containsExactly("steadwork", "raw");
        assertThat(options.results()).isEqualTo(Path.of("home", "results", "mine"));
    }

    @Test
    void a_peer_may_take_part_in_one_part_only() {
        var options = parse("--peers", "steadwork,dbos-java:workflow");

        assertThat(options.peersOf(Part.QUEUE)).containsExactly("steadwork");
        assertThat(options.peersOf(Part.WORKFLOW)).containsExactly("steadwork", "dbos-java");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --fast              | unknown option '--fast'
                    --rounds            | --rounds needs a value
                    --rounds --quick    | --rounds needs a value
                    --rounds 0          | --rounds is '0'; it must be a number from 1 to 99
                    --rounds many       | --rounds is 'many'; it must be a number from 1 to 99
                    --parts queue,sleep | no part is called 'sleep'; there are limits, queue
                    --peers rawest      | no peer is called 'rawest'; there are
                    --peers raw:idle    | no part is called 'idle'
                    one two             | there are two names, 'one' and 'two'
                    ../elsewhere        | is not a name
                    --report            | --report needs the NAME
                    """)
    void what_cannot_be_understood_is_refused(String line, String problem) {
        assertThatThrownBy(() -> parse(line.split(" ")))
                .isInstanceOf(UsageError.class)
                .hasMessageContaining(problem);
    }
}
