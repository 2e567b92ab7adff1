package dev.steadwork.behaviour;

import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.steadwork.RunInfo;
import dev.steadwork.Steadwork;
import dev.steadwork.testing.CountingDataSource;
import dev.steadwork.testing.PostgresServer;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Report;
import dev.steadwork.testing.Script;
import dev.steadwork.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What workers with default settings do while nothing happens, seen over a while. */
class QuietTest {
    private static final Duration WHILE = Duration.ofSeconds(12);
    private static long statements;
    private static RunInfo held;

    @BeforeAll
    static void watchForAWhile() {
        var report = new Report();
        var script = new Script(report::add);
        try (var pool = new HikariDataSource()) {
            pool.setJdbcUrl(PostgresServer.newDatabase());
            var counting = new CountingDataSource(pool);
            try (var idle = Steadwork.builder().dataSource(counting.counted()).open();
                    var busy = Steadwork.open(TestDatabase.SQLITE.newUrl())) {
                idle.worker().handle(SCRIPT, script).start();
                busy.worker().handle(SCRIPT, script).start();
                var run = busy.workflow(SCRIPT).trigger(List.of("hold ship"));
                report.awaitLine("started ship " + run.id());
                long before = counting.statements();

                await().pollDelay(WHILE).atMost(WHILE.multipliedBy(2)).until(() -> true);

                statements = counting.statements() - before;
                held = run.info();
                script.go();
            }
        }
    }

    @Test
    @Proves("CLAIM-7")
    void an_idle_worker_asks_less_than_once_a_second() {
        assertThat(statements).isLessThan(WHILE.toSeconds());
    }

    @Test
    @Proves("LEASE-1")
    void a_lease_is_prolonged_every_10_seconds() {
        var prolonged = Duration.between(held.startedAt(), held.times().due()).minusSeconds(30);

        assertThat(prolonged).isBetween(Duration.ofSeconds(8), WHILE);
    }
}
