package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.PRECONDITION_FAILED;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.testing.PgBouncer;
import dev.steadwork.testing.PostgresServer;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Runs by way of PgBouncer in transaction mode, where every transaction may have another session. */
@EnabledIf("dev.steadwork.testing.PgBouncer#isThere")
class PgBouncerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Workflow<String, String> CHILD = Workflow.define("child", String.class, String.class);
    private static final Workflow<String, String> WORK = Workflow.define("work", String.class, String.class);

    private String direct;
    private String url;

    @BeforeEach
    void createDatabase() {
        direct = PostgresServer.newDatabase();
        url = PgBouncer.through(direct);
    }

    @AfterEach
    void dropDatabase() {
        PostgresServer.dropDatabase(direct);
    }

    @Test
    @Proves("CLAIM-8")
    void steps_sleeps_signals_children_and_transactions_work_without_sessions() {
        try (var one = open();
                var other = open()) {
            one.worker().handle(CHILD, (ctx, input) -> input + " child").start();
            other.worker()
                    .concurrency(20)
                    .handle(WORK, (ctx, input) -> {
                        var step = ctx.step("step", String.class, s -> input + " step");
                        ctx.sleep("nap", Duration.ofMillis(50));
                        var child = ctx.child(CHILD, step).get();
                        ctx.transaction("table", String.class, connection -> {
                            connection.createStatement().execute("CREATE TABLE IF NOT EXISTS own (n int)");
                            connection.createStatement().execute("INSERT INTO own VALUES (1)");
                            return "kept";
                        });
                        return child + ctx.awaitEvent("go", String.class, PATIENCE);
                    })
                    .start();

            var runs = IntStream.range(0, 30)
                    .mapToObj(i -> one.workflow(WORK).trigger("run"))
                    .toList();
            runs.forEach(run -> run.signal("go", " went"));

            assertThat(runs).allSatisfy(run -> assertThat(run.await(PATIENCE)).isEqualTo("run step child went"));
        }
    }

    @Test
    void who_listens_through_it_is_told_what_to_do() {
        assertRefused(PRECONDITION_FAILED, () -> Steadwork.open(url), "PgBouncer", "listen(false)");
    }

    private Steadwork open() {
        return Steadwork.builder()
                .url(url)
                .listen(false)
                .pollInterval(Duration.ofMillis(300))
                .open();
    }
}
