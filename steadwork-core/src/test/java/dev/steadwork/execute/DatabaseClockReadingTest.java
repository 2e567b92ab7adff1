package dev.steadwork.execute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.store.Write;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class DatabaseClockReadingTest {
    @Test
    void a_wait_is_not_shortened_by_the_time_that_the_reading_was_on_its_way() {
        var reading = Instant.parse("2026-01-01T00:00:00Z");
        var onItsWay = Duration.ofSeconds(20);
        var clock = new DatabaseClock(reading, System.nanoTime() - onItsWay.toNanos());

        var wakes = clock.at(Write.Wake.after(Duration.ofMinutes(1)));

        assertThat(wakes).isAfterOrEqualTo(reading.plus(onItsWay).plus(Duration.ofMinutes(1)));
    }
}
