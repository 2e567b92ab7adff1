package dev.steadwork.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OptionsTest {
    @Test
    void options_are_read() {
        var options = parse("--minutes 30 --seed 42 --faults kill,lose-answers --mutant first-write");

        assertThat(options.time()).isEqualTo(Duration.ofMinutes(30));
        assertThat(options.seed()).isEqualTo(42);
        assertThat(options.rate()).isEqualTo(200);
        assertThat(options.faults()).containsExactly(FaultKind.KILL, FaultKind.LOSE_ANSWERS);
        assertThat(options.mutant()).isEqualTo(Mutant.FIRST_WRITE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--minutes 0",
                "--minutes NaN",
                "--minutes many",
                "--minutes",
                "--seed 1.5",
                "--rate -1",
                "--lease 0.1",
                "--database oracle",
                "--faults kill,rain",
                "--mutant all",
                "--database sqlite --mutant epoch",
                "--colour red"
            })
    void a_bad_option_is_refused_by_its_name(String arguments) {
        assertThatThrownBy(() -> parse(arguments))
                .isInstanceOf(Options.Bad.class)
                .hasMessageContaining(
                        arguments.contains("mutant") ? "--mutant" : arguments.split(" ", -1)[0]);
    }

    private static Options parse(String arguments) {
        return Options.parse(arguments.split(" ", -1), 1);
    }
}
