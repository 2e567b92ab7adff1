package dev.steadwork.examples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.examples.demo.Line.Look;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineTest {
    @Test
    void a_text_is_wrapped_between_words_and_keeps_its_indent() {
        assertThat(wrapped("  one two three", 9)).containsExactly("  one two", "  three");
    }

    @Test
    void a_word_too_long_for_a_line_is_left_as_it_is() {
        assertThat(wrapped("  /a/very/long/path and more", 8)).containsExactly("  /a/very/long/path and more");
    }

    @Test
    void a_line_is_cut_off_without_counting_its_colours() {
        var line = new Line().add("red", Look.RED).add("green", Look.GREEN);

        assertThat(line.render(5, true)).isEqualTo("\u001b[31mred\u001b[0m\u001b[32mgr\u001b[0m");
        assertThat(line.render(5, false)).isEqualTo("redgr");
    }

    private static List<String> wrapped(String text, int columns) {
        return Line.wrapped(text, Look.PLAIN, columns).stream()
                .map(line -> line.render(Integer.MAX_VALUE, false))
                .toList();
    }
}
