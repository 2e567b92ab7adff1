package dev.steadwork.examples.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemoOptionsTest {
    @TempDir
    Path folder;

    @Test
    void without_options_there_are_8_orders_in_a_temporary_file() {
        assertThat(DemoOptions.parse()).isEqualTo(new DemoOptions(null, 8, false, false));
    }

    @Test
    void a_value_stands_behind_a_space_or_an_equals_sign() {
        var file = folder.resolve("a.db");

        assertThat(DemoOptions.parse("--db", file.toString(), "--orders", "3"))
                .isEqualTo(DemoOptions.parse("--db=" + file, "--orders=3"))
                .isEqualTo(new DemoOptions(file, 3, false, false));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--orders 0      | --orders is 0; allowed is 1 to 500",
                "--orders many   | --orders needs a number, not 'many'",
                "--orders        | --orders needs a value",
                "--db            | --db needs a value",
                "--db --keep     | --db needs a file, not '--keep'",
                "--db=           | --db needs a file, not ''",
                "--db /no/such/x | there is no folder /no/such",
                "--db .          | is a folder; give a file",
                "--keep=yes      | --keep takes no value",
                "--colour        | unknown option '--colour'",
                "orders          | unknown option 'orders'"
            })
    void a_bad_option_is_refused_with_its_reason(String line, String reason) {
        assertThatThrownBy(() -> DemoOptions.parse(line.split(" ")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason);
    }
}
