package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunHandle;
import dev.steadwork.Workflow;
import dev.steadwork.maintain.Duties;
import dev.steadwork.maintain.Duty;
import dev.steadwork.maintain.Retention;
import dev.steadwork.store.jdbc.JdbcStores;
import dev.steadwork.store.jdbc.StoreConfig;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RetentionTest extends EngineTest {
    private static final Workflow<String, String> WORK = Workflow.define("work", String.class, String.class);

    private List<RunHandle<String>> completed(int count) {
        var runs = steadwork.workflow(WORK).triggerAll(Collections.nCopies(count, "x"));
        runs.forEach(run -> run.await(PATIENCE));
        return runs;
    }

    @Test
    @Proves("DATA-4")
    void expired_runs_are_counted_first_and_deleted_when_asked() {
        work(WORK, (ctx, input) -> input);
        var runs = completed(3);
        steadwork.namespaces().create("default", n -> n.keepCompleted(Duration.ZERO));

        await().until(() -> steadwork.expired().count().completed() == 3);
        assertThat(steadwork.runs().count()).isEqualTo(3);
        assertThat(steadwork.expired().delete().completed()).isEqualTo(3);

        assertThat(steadwork.runs().withDeleted().count()).isZero();
        assertThat(steadwork.expired().delete().total()).isZero();
        assertThat(runs).hasSize(3);
    }

    @Test
    @Proves("DATA-4")
    void what_became_of_slots_expires_with_the_runs_that_are_kept_longest() {
        work(WORK, (ctx, input) -> input);
        var schedules = steadwork.schedules();
        schedules.create("yearly", s -> s.workflow(WORK).cron("@yearly").input("x"));
        schedules.trigger("yearly").await(PATIENCE);
        steadwork.namespaces().create("default", n -> n.keepFailed(Duration.ZERO));

        steadwork.expired().delete();
        assertThat(schedules.firings("yearly").items()).as("completed for ever").hasSize(1);

        steadwork
                .namespaces()
                .update("default", n -> n.keepCompleted(Duration.ZERO).keepFailed(Duration.ofDays(1)));
        steadwork.expired().delete();
        assertThat(schedules.firings("yearly").items()).as("failed for a day").hasSize(1);

        steadwork.namespaces().update("default", n -> n.keepFailed(null));
        steadwork.expired().delete();
        assertThat(schedules.firings("yearly").items()).isEmpty();
    }

    @Test
    @Proves("DATA-4")
    void without_a_setting_nothing_expires() {
        work(WORK, (ctx, input) -> input);
        completed(2);

        assertThat(steadwork.expired().delete().total()).isZero();
        assertThat(steadwork.runs().count()).isEqualTo(2);
    }

    @Test
    @Proves("DATA-4")
    void the_duty_deletes_part_after_part_while_runs_go_through_and_loses_none() {
        var executed = new AtomicInteger();
        work(WORK, (ctx, input) -> input + executed.incrementAndGet());
        completed(700);
        steadwork.namespaces().create("default", n -> n.keepCompleted(Duration.ofMillis(1)));
        var config = new StoreConfig(url, null, null, null, "steadwork", 5, false, Duration.ofSeconds(60));
        try (var store = JdbcStores.open(config)) {
            var duties =
                    new Duties(List.of(new Duty("retention", Duration.ofMillis(100), new Retention(store, "default"))));
            duties.start();
            try {
                steadwork.workflow(WORK).triggerAll(Collections.nCopies(300, "y"));
                await().atMost(PATIENCE).until(() -> steadwork.runs().count() == 0);
            } finally {
                duties.stop();
            }
        }
        assertThat(executed).hasValue(1_000);
    }
}
