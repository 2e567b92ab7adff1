package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.CONFLICT;
import static dev.steadwork.ErrorCode.INVALID_ARGUMENT;
import static dev.steadwork.ErrorCode.INVALID_STATE;
import static dev.steadwork.ErrorCode.NOT_FOUND;
import static dev.steadwork.ErrorCode.PRECONDITION_FAILED;
import static dev.steadwork.ErrorCode.UNAVAILABLE;
import static dev.steadwork.TriggerCheck.ACCEPT;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.testing.TestDatabase.POSTGRES;
import static dev.steadwork.testing.TestDatabase.SQLITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.steadwork.ErrorCode;
import dev.steadwork.InvalidArgument;
import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.Serialization;
import dev.steadwork.Steadwork;
import dev.steadwork.SteadworkException;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.PostgresServer;
import dev.steadwork.testing.Proves;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BadInputTest extends EngineTest {
    private static final Workflow<String, String> WORK = Workflow.define("work", String.class, String.class);

    @BeforeEach
    void register() {
        steadwork.register(WORK);
    }

    @Test
    @Proves("STORE-3")
    void a_closed_engine_refuses_everything_and_says_so() {
        var run = steadwork.workflow(WORK).trigger("x");
        var prepared = steadwork.workflow(WORK);
        var worker = steadwork.worker().handle(WORK, (ctx, input) -> input);
        steadwork.close();

        List<ThrowingCallable> calls = List.of(
                () -> prepared.trigger("x"),
                () -> prepared.triggerAll(List.of("x", "y")),
                () -> steadwork.workflow(WORK).trigger("x"),
                () -> steadwork.worker(),
                worker::start,
                () -> steadwork.register(WORK),
                () -> steadwork.runs().count(),
                () -> steadwork.runs().page(10),
                run::status,
                run::result,
                run::cancel,
                () -> run.await(PATIENCE),
                run::future);

        assertThat(calls).allSatisfy(call -> assertRefused(INVALID_STATE, call, "closed", "Steadwork.open"));
        assertThat(open(settings -> settings).runs().count()).isEqualTo(1);
    }

    @Test
    void closing_twice_does_no_harm() {
        var worker = work(WORK, (ctx, input) -> input);
        worker.close();
        steadwork.close();

        assertThatCode(worker::close).doesNotThrowAnyException();
        assertThatCode(steadwork::close).doesNotThrowAnyException();
    }

    @Test
    @Proves("STORE-3")
    void an_unknown_run_is_named_by_everything_that_is_asked_of_it() {
        var id = RunId.parse("0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e");
        RunHandle<Object> unknown = steadwork.run(id);

        List<ThrowingCallable> calls = List.of(
                unknown::status,
                unknown::info,
                unknown::input,
                unknown::steps,
                unknown::result,
                () -> unknown.await(PATIENCE),
                unknown::cancel,
                () -> unknown.terminate("test"),
                unknown::pause,
                unknown::resume,
                unknown::retry,
                () -> unknown.delete("test"));

        assertThat(calls).allSatisfy(call -> assertRefused(NOT_FOUND, call, id.toString()));
    }

    @Test
    void a_sleep_too_long_to_be_kept_fails_its_run_and_nothing_else() {
        work(WORK, (ctx, input) -> {
            switch (input) {
                case "for ever" -> ctx.sleep("for ever", Duration.ofSeconds(Long.MAX_VALUE));
                case "until the end" -> ctx.sleepUntil("until the end", Instant.MAX);
                case "back" -> ctx.sleep("back", Duration.ofMillis(-1));
                default -> ctx.sleep("a moment", Duration.ofMillis(1));
            }
            return input;
        });

        for (var bad : List.of("for ever", "until the end", "back")) {
            var error = Runs.failureOf(steadwork.workflow(WORK).trigger(bad));
            assertThat(error.type()).isEqualTo(InvalidArgument.class.getName());
            assertThat(error.message()).contains("sleep " + bad);
        }
        assertThat(steadwork.workflow(WORK).trigger("x").await(PATIENCE)).isEqualTo("x");
    }

    @Test
    void a_run_due_in_thousands_of_years_does_not_disturb_the_others() {
        var farAway = Instant.parse("9999-12-31T00:00:00Z");
        var waiting = steadwork.workflow(WORK).startAt(farAway).trigger("x");
        work(WORK, (ctx, input) -> input);

        assertThat(steadwork.workflow(WORK).deadline(farAway).trigger("x").await(PATIENCE))
                .isEqualTo("x");
        assertThat(steadwork
                        .workflow(WORK)
                        .delay(Duration.ofMillis(200))
                        .trigger("x")
                        .await(PATIENCE))
                .isEqualTo("x");
        assertThat(waiting.info().times().due()).isEqualTo(farAway);
    }

    @Test
    void a_refused_trigger_does_not_fail_those_that_share_its_transaction() throws Exception {
        var other = Workflow.define("other", String.class, String.class);
        steadwork.workflow(other).check(ACCEPT).idempotencyKey("taken").trigger("x");
        var refused = new ConcurrentLinkedQueue<ErrorCode>();

        AtOnce.call(30, i -> {
            try {
                return switch (i % 3) {
                    case 0 -> steadwork.workflow(WORK).idempotencyKey("taken").trigger("x");
                    case 1 -> steadwork.workflow("unknown").trigger("x");
                    default -> steadwork.workflow(WORK).trigger("x");
                };
            } catch (SteadworkException bad) {
                refused.add(bad.code());
                return bad;
            }
        });

        assertThat(refused).hasSize(20).containsOnly(CONFLICT, PRECONDITION_FAILED);
        assertThat(steadwork.runs().type("work").count()).isEqualTo(10);
    }

    @Test
    void an_input_that_is_not_what_the_handler_expects_fails_its_run_and_nothing_else() {
        var count = Workflow.define("count", Integer.class, Integer.class);
        work(count, (ctx, number) -> number + 1);

        var bad = steadwork.workflow("count").trigger("not a number");

        assertThat(Runs.failureOf(bad).type()).isEqualTo(Serialization.class.getName());
        assertThat(bad.info().attempt()).isEqualTo(1);
        assertThat(steadwork.workflow(count).trigger(1).await(PATIENCE)).isEqualTo(2);
    }

    @Test
    void a_bad_step_name_fails_its_run_and_nothing_else() {
        work(WORK, (ctx, name) -> ctx.step(name, String.class, step -> "done"));

        for (var bad : List.of("", "x".repeat(256), "a\nb", "a\u0000b")) {
            var error = Runs.failureOf(steadwork.workflow(WORK).trigger(bad));
            assertThat(error.type()).isEqualTo(InvalidArgument.class.getName());
            assertThat(error.message()).contains("step name");
        }
        assertThat(steadwork.workflow(WORK).trigger("good").await(PATIENCE)).isEqualTo("done");
    }

    @Test
    void an_empty_reason_is_refused() {
        var run = steadwork.workflow(WORK).trigger("x");

        assertRefused(INVALID_ARGUMENT, () -> run.delete(""), "reason", "empty");
        assertRefused(INVALID_ARGUMENT, () -> run.terminate(" "), "reason", "empty");
        assertRefused(INVALID_ARGUMENT, () -> run.await(Duration.ofSeconds(-1)), "timeout", "negative");
        assertThat(run.info().deletedReason()).isNull();
    }

    @Test
    void a_page_has_one_to_a_thousand_runs() {
        assertRefused(INVALID_ARGUMENT, () -> steadwork.runs().page(0), "page size is 0", "1 to 1000");
        assertRefused(INVALID_ARGUMENT, () -> steadwork.runs().page(1001), "page size is 1001");
        assertThat(steadwork.runs().page(1000).items()).isEmpty();
    }

    @Test
    void bytes_need_a_content_type() {
        var trigger = steadwork.workflow("work");

        assertRefused(INVALID_ARGUMENT, () -> trigger.triggerBytes(new byte[1], ""), "content type", "empty");
        assertRefused(INVALID_ARGUMENT, () -> trigger.triggerBytes(null, "text/plain"), "input", "null");
        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    void a_worker_is_refused_for_what_it_lacks() {
        assertRefused(INVALID_ARGUMENT, () -> steadwork.worker().start(), "at least one handler", "handle(");
        assertRefused(
                INVALID_ARGUMENT,
                () -> steadwork
                        .worker()
                        .concurrency(Workflow.define("other", String.class, String.class), 2)
                        .handle(WORK, (ctx, input) -> input)
                        .start(),
                "other",
                "without a handler");
        assertRefused(
                INVALID_ARGUMENT,
                () -> steadwork
                        .worker()
                        .typePrefix("w")
                        .concurrency(WORK, 2)
                        .handle(WORK, (ctx, input) -> input)
                        .start(),
                "typePrefix",
                "two workers");
    }

    @Test
    void a_handler_is_given_once_and_is_not_null() {
        var worker = steadwork.worker().handle(WORK, (ctx, input) -> input);

        assertRefused(
                CONFLICT, () -> worker.handle(WORK, (ctx, input) -> "another"), "work", "one handler per workflow");
        assertRefused(INVALID_ARGUMENT, () -> steadwork.worker().handle(WORK, null), "handler", "work", "null");
        assertRefused(
                INVALID_ARGUMENT, () -> steadwork.worker().handle(null, (ctx, input) -> input), "workflow", "null");
        assertRefused(INVALID_ARGUMENT, () -> worker.concurrency(0), "concurrency is 0", "at least 1");
        assertRefused(INVALID_ARGUMENT, () -> worker.concurrency(WORK, -1), "concurrency is -1");
        assertRefused(INVALID_ARGUMENT, () -> worker.drainTimeout(Duration.ofSeconds(-1)), "drain timeout");
    }

    @Test
    @Proves("STORE-2")
    void a_database_without_the_schema_is_refused_when_it_may_not_be_migrated() {
        var empty = database.newUrl();

        assertRefused(
                PRECONDITION_FAILED,
                () -> Steadwork.builder().url(empty).migrate(false).open(),
                "version 0",
                "migrate(true)");
        drop(empty);
    }

    @Test
    @Proves("STORE-2")
    void a_schema_newer_than_the_library_is_refused() throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            statement.execute("UPDATE %s SET version = 999 WHERE version = 1"
                    .formatted(database == SQLITE ? "steadwork_schema_version" : "steadwork.schema_version"));
        }

        assertRefused(PRECONDITION_FAILED, () -> Steadwork.open(url), "999", "Upgrade");
    }

    @Test
    @Proves("STORE-2")
    void a_schema_name_that_needs_quoting_is_refused() {
        for (var name : List.of("Upper", "with space", "drop;table", "1st", "pg_own", "sqlite_own", "x".repeat(64))) {
            assertRefused(
                    INVALID_ARGUMENT,
                    () -> Steadwork.builder().url(url).schema(name).open(),
                    "schema is '" + name + "'",
                    "allowed");
        }
    }

    @Test
    void a_url_of_another_kind_is_refused() {
        for (var other : List.of("jdbc:mysql://localhost/db", "postgres://localhost/db", "app.db", "")) {
            assertRefused(INVALID_ARGUMENT, () -> Steadwork.open(other), "jdbc:sqlite:", "jdbc:postgresql:");
        }
    }

    @Test
    void a_url_never_shows_its_password() {
        var secret = "jdbc:mysql://user:s3cret@localhost/db?password=s3cret";

        assertThat(Refusal.of(() -> Steadwork.open(secret))).hasMessageNotContaining("s3cret");
    }

    @Test
    @Proves("STORE-3")
    void a_postgres_that_is_down_is_unavailable() {
        assumeThat(database).isEqualTo(POSTGRES);

        assertRefused(
                UNAVAILABLE,
                () -> Steadwork.open("jdbc:postgresql://localhost:1/none?user=u&password=s3cret"),
                "localhost:1/none",
                "Check that it runs");
    }

    @Test
    @Proves("STORE-3")
    void a_postgres_database_that_does_not_exist_is_named() {
        assumeThat(database).isEqualTo(POSTGRES);
        var missing = url.replaceFirst("/steadwork_\\d+", "/missing");

        assertRefused(INVALID_ARGUMENT, () -> Steadwork.open(missing), "does not exist", "missing", "Create it");
    }

    @Test
    @Proves("STORE-3")
    void a_database_that_goes_away_is_a_clear_error_and_closing_still_works() {
        assumeThat(database).isEqualTo(POSTGRES);
        work(WORK, (ctx, input) -> input);

        PostgresServer.dropDatabase(url);

        assertThat(Refusal.of(() -> steadwork.workflow(WORK).trigger("x"))).hasMessageContaining("database");
        assertThatCode(steadwork::close).doesNotThrowAnyException();
    }

    @Test
    @Proves("STORE-3")
    void an_sqlite_file_that_cannot_be_is_named() throws IOException {
        assumeThat(database).isEqualTo(SQLITE);
        Path directory = Files.createTempDirectory("steadwork-test-");
        Path text = Files.writeString(directory.resolve("notes.txt"), "these are just notes, ".repeat(100));

        assertRefused(
                INVALID_ARGUMENT,
                () -> Steadwork.open("jdbc:sqlite:" + directory.resolve("missing/app.db")),
                "missing",
                "Create it");
        assertRefused(INVALID_ARGUMENT, () -> Steadwork.open("jdbc:sqlite:" + directory), "is a directory");
        assertRefused(
                INVALID_ARGUMENT, () -> Steadwork.open("jdbc:sqlite:" + text), "not an SQLite database", "notes.txt");
        assertThat(text).hasContent("these are just notes, ".repeat(100));
    }

    private void drop(String unused) {
        if (database == POSTGRES) {
            PostgresServer.dropDatabase(unused);
        }
    }
}
