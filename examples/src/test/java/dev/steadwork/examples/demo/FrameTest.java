package dev.steadwork.examples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.examples.demo.Board.Cell;
import dev.steadwork.examples.demo.Board.Phase;
import dev.steadwork.examples.demo.Board.Row;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrameTest {
    @Test
    void a_wide_terminal_shows_the_steps_by_name() {
        var drawn = draw(new Terminal.Size(100, 30), 1);

        assertThat(drawn)
                .anySatisfy(line -> assertThat(line)
                        .containsSubsequence(
                                "order-1", "+ reserve", "> charge x2", "z cooling-off 1.5 s", "x ship", ". notify"));
    }

    @Test
    void a_line_of_a_usual_terminal_is_not_cut_off() {
        var drawn = draw(new Terminal.Size(80, 24), 8);

        assertThat(drawn).anySatisfy(line -> assertThat(line).contains("order-8", ". notify"));
    }

    @Test
    void orders_in_trouble_come_first_when_there_is_no_room_for_all() {
        var drawn = draw(new Terminal.Size(80, 13), 500);

        assertThat(drawn)
                .filteredOn(line -> line.startsWith(" order-"))
                .hasSize(3)
                .allSatisfy(line -> assertThat(line).contains("x ship"));
        assertThat(drawn).contains("  and 497 more");
    }

    @Test
    void a_narrow_terminal_shows_the_steps_as_marks() {
        var drawn = draw(new Terminal.Size(30, 30), 1);

        assertThat(drawn).contains(" order-1   + > z x . ");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 20, 40, 77, 78, 80, 200})
    void no_line_is_wider_than_the_terminal(int columns) {
        assertThat(draw(new Terminal.Size(columns, 24), 8))
                .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(columns));
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 24, 50})
    void no_frame_is_higher_than_the_terminal(int rows) {
        assertThat(draw(new Terminal.Size(80, rows), 500)).hasSizeLessThan(rows);
    }

    private static List<String> draw(Terminal.Size size, int orders) {
        var rows = IntStream.rangeClosed(1, orders).mapToObj(FrameTest::row).toList();
        var moment = new View.Moment(Duration.ofSeconds(3), "worker A", rows);
        return new Frame(size, false)
                .draw(moment).stream()
                        .map(line -> line.render(size.columns(), false))
                        .toList();
    }

    private static Row row(int number) {
        return new Row(
                new RunId(new UUID(number, 0)),
                "order-" + number,
                RunStatus.RUNNING,
                List.of(
                        new Cell("reserve", Phase.KEPT, 1, null),
                        new Cell("charge", Phase.RUNNING, 2, null),
                        new Cell("cooling-off", Phase.SLEEPING, 1, Duration.ofMillis(1500)),
                        new Cell("ship", number % 2 == 1 ? Phase.INTERRUPTED : Phase.WAITING, 1, null),
                        new Cell("notify", Phase.WAITING, 0, null)));
    }
}
