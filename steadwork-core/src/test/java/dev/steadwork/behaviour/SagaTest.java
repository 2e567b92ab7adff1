package dev.steadwork.behaviour;

import static dev.steadwork.behaviour.Runs.attempts;
import static dev.steadwork.behaviour.Runs.awaitCancelled;
import static dev.steadwork.behaviour.Runs.awaitStatus;
import static dev.steadwork.behaviour.Runs.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.steadwork.InvalidState;
import dev.steadwork.PermanentFailure;
import dev.steadwork.Promise;
import dev.steadwork.RetryAfter;
import dev.steadwork.RunError;
import dev.steadwork.RunStatus;
import dev.steadwork.StepFailedException;
import dev.steadwork.StepKind;
import dev.steadwork.StepStatus;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Undo steps, executed in reverse when a run does not complete: SAGA-1. */
class SagaTest extends EngineTest {
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Workflow<String, String> TRIP = Workflow.define("trip", String.class, String.class);
    private static final Workflow<String, String> CHILD = Workflow.define("child", String.class, String.class);

    private final List<String> done = new CopyOnWriteArrayList<>();

    @Test
    @Proves("SAGA-1")
    void a_failure_undoes_what_was_done_in_reverse() {
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("release-seat", () -> done.add("release-seat"));
            ctx.run("reserve-seat", () -> done.add("reserve-seat"));
            ctx.compensateWith("refund", () -> done.add("refund"));
            ctx.run("charge", () -> done.add("charge"));
            ctx.run("ticket", attempts(1), step -> {
                throw new PermanentFailure("sold out");
            });
            return trip;
        });

        var run = steadwork.workflow(TRIP).trigger("t-1");

        assertThat(failureOf(run).message()).contains("sold out");
        assertThat(done).containsExactly("reserve-seat", "charge", "refund", "release-seat");
        assertThat(run.info().compensates()).isTrue();
        assertThat(Runs.step(run, "refund").kind()).isEqualTo(StepKind.UNDO);
        assertThat(Runs.step(run, "refund").status()).isEqualTo(StepStatus.COMPLETED);
    }

    @Test
    @Proves("SAGA-1")
    void a_run_that_completes_undoes_nothing() {
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("undo", () -> done.add("undo"));
            ctx.sleep("replay", Duration.ofMillis(1));
            return trip;
        });

        var run = steadwork.workflow(TRIP).trigger("t-1");

        assertThat(run.await(PATIENCE)).isEqualTo("t-1");
        assertThat(done).isEmpty();
        assertThat(Runs.step(run, "undo").status()).isEqualTo(StepStatus.WAITING);
    }

    @Test
    @Proves({"SAGA-1", "CANCEL-1"})
    void cancelling_a_run_that_waits_wakes_it_to_undo() {
        work(TRIP, (ctx, trip) -> {
            ctx.run("reserve", () -> done.add("reserve"));
            ctx.compensateWith("release", () -> done.add("release"));
            ctx.awaitEvent("approved", String.class, LONG);
            done.add("went on");
            return trip;
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        awaitStatus(run, RunStatus.SLEEPING);

        run.cancel();

        awaitCancelled(run);
        assertThat(done).containsExactly("reserve", "release");
    }

    @Test
    @Proves({"SAGA-1", "CANCEL-1"})
    void a_paused_run_is_woken_to_undo_when_it_is_cancelled() {
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("release", () -> done.add("release"));
            ctx.sleep("long", LONG);
            return trip;
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        awaitStatus(run, RunStatus.SLEEPING);
        run.pause();

        run.cancel();

        awaitCancelled(run);
        assertThat(done).containsExactly("release");
    }

    @Test
    @Proves({"SAGA-1", "CANCEL-1"})
    void cancelling_a_run_that_executes_interrupts_its_step_and_undoes() throws InterruptedException {
        var executing = new Gate();
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("release", () -> done.add("release"));
            ctx.run("reserve", () -> done.add("reserve"));
            ctx.run("endless", executing::pass);
            return trip;
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        executing.awaitReached();

        run.cancel();

        awaitCancelled(run);
        assertThat(done).containsExactly("reserve", "release");
    }

    @Test
    @Proves({"SAGA-1", "CANCEL-1"})
    void a_request_that_comes_while_the_handler_has_not_yet_registered_its_undo_steps_again_undoes() {
        var entries = new AtomicInteger();
        work(TRIP, (ctx, trip) -> {
            if (entries.incrementAndGet() == 2) {
                while (!ctx.cancelRequested()) {
                    Thread.onSpinWait();
                }
            }
            ctx.compensateWith("release", () -> done.add("release"));
            ctx.run("reserve", () -> done.add("reserve"));
            ctx.sleep("pause", Duration.ofMillis(100));
            return trip;
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        await().atMost(PATIENCE).until(() -> entries.get() == 2);

        run.cancel();

        awaitCancelled(run);
        assertThat(done).containsExactly("reserve", "release");
    }

    @Test
    @Proves({"SAGA-1", "CANCEL-1"})
    void what_the_handler_returns_after_the_request_does_not_save_it_from_undoing() throws InterruptedException {
        var last = new Gate();
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("release", () -> done.add("release"));
            ctx.run("reserve", () -> done.add("reserve"));
            last.passDeaf();
            return trip;
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        last.awaitReached();
        run.cancel();

        last.open();

        awaitCancelled(run);
        assertThat(done).containsExactly("reserve", "release");
    }

    @Test
    @Proves({"SAGA-1", "RUN-6"})
    void a_missed_deadline_undoes_too() {
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("release", () -> done.add("release"));
            ctx.awaitEvent("never", String.class, LONG);
            return trip;
        });

        // On a busy machine a run may miss its deadline before it has anything to undo; the next one has more time.
        for (var deadline = Duration.ofMillis(700); done.isEmpty(); deadline = deadline.multipliedBy(3)) {
            var run = steadwork.workflow(TRIP).deadline(deadline).trigger("t-1");
            assertThat(failureOf(run).type()).isEqualTo(RunError.DEADLINE_EXCEEDED);
        }

        assertThat(done).containsExactly("release");
    }

    @Test
    @Proves("SAGA-1")
    void undo_steps_are_tried_again() {
        var attempts = new AtomicInteger();
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("flaky", attempts(5), step -> {
                if (attempts.incrementAndGet() < 3) {
                    throw new IllegalStateException("not yet");
                }
            });
            throw new PermanentFailure("no");
        });

        var run = steadwork.workflow(TRIP).trigger("t-1");

        assertThat(failureOf(run).message()).isEqualTo("no");
        assertThat(attempts).hasValue(3);
        assertThat(Runs.step(run, "flaky").failedAttempts()).hasSize(2);
    }

    @Test
    @Proves({"SAGA-1", "RETRY-1"})
    void a_failed_undo_is_visible_and_does_not_stop_the_others_and_can_be_retried() {
        var broken = new AtomicBoolean(true);
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("first", () -> done.add("first"));
            ctx.compensateWith("stubborn", attempts(2), step -> {
                if (broken.get()) {
                    throw new IllegalStateException("bank is closed");
                }
                done.add("stubborn");
            });
            ctx.compensateWith("last", () -> done.add("last"));
            throw new PermanentFailure("no");
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");

        assertThat(failureOf(run).message()).contains("no", "Undo step 'stubborn' failed", "bank is closed");
        assertThat(done).containsExactly("last", "first");
        assertThat(Runs.step(run, "stubborn").status()).isEqualTo(StepStatus.FAILED);

        broken.set(false);
        run.retry();

        assertThat(failureOf(run).message()).isEqualTo("no");
        assertThat(done).containsExactly("last", "first", "stubborn");
    }

    @Test
    @Proves({"SAGA-1", "RETRY-1"})
    void a_run_that_was_undone_cannot_be_retried() {
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("release", () -> done.add("release"));
            throw new PermanentFailure("no");
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        failureOf(run);

        assertThatThrownBy(run::retry)
                .isInstanceOf(InvalidState.class)
                .hasMessageContaining(run.id().toString())
                .hasMessageContaining("undone");
    }

    @Test
    @Proves("SAGA-1")
    void a_failed_undo_of_a_cancelled_run_is_visible_on_it() {
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("release", attempts(1), step -> {
                throw new IllegalStateException("cannot");
            });
            ctx.sleep("long", LONG);
            return trip;
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        awaitStatus(run, RunStatus.SLEEPING);

        run.cancel();

        awaitCancelled(run);
        assertThat(run.info().lastError()).contains("compensation_failed", "'release'", "cannot");
    }

    @Test
    @Proves({"SAGA-1", "CANCEL-1"})
    void terminating_ends_a_run_without_undoing() {
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("release", () -> done.add("release"));
            ctx.sleep("long", LONG);
            return trip;
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        awaitStatus(run, RunStatus.SLEEPING);

        run.terminate("enough");

        assertThat(run.status()).isEqualTo(RunStatus.CANCELLED);
        assertThat(done).isEmpty();
    }

    @Test
    @Proves({"SAGA-1", "CANCEL-1"})
    void what_was_done_beside_a_child_that_has_not_ended_is_undone_too() {
        work(CHILD, (ctx, trip) -> ctx.awaitEvent("never", String.class, LONG));
        work(TRIP, (ctx, trip) -> {
            var child = ctx.child(CHILD, trip);
            ctx.run("charge", () -> done.add("charge"));
            ctx.compensateWith("refund", () -> done.add("refund"));
            return child.get();
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        awaitStatus(run, RunStatus.SLEEPING);

        run.cancel();

        awaitCancelled(run);
        assertThat(done).containsExactly("charge", "refund");
    }

    @Test
    @Proves({"SAGA-1", "CANCEL-1"})
    void what_was_done_beside_a_step_that_waits_for_its_next_attempt_is_undone_too() {
        work(TRIP, (ctx, trip) -> {
            Promise<String> slow = ctx.async("slow", String.class, step -> {
                throw new RetryAfter(LONG, "later");
            });
            ctx.run("charge", () -> done.add("charge"));
            ctx.compensateWith("refund", () -> done.add("refund"));
            return slow.get();
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        awaitStatus(run, RunStatus.SLEEPING);

        run.cancel();

        awaitCancelled(run);
        assertThat(done).containsExactly("charge", "refund");
    }

    @Test
    @Proves({"SAGA-1", "CANCEL-1"})
    void a_step_beside_the_handler_is_interrupted_and_not_tried_again_before_it_is_undone()
            throws InterruptedException {
        var executing = new Gate();
        work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("refund", () -> done.add("refund"));
            return ctx.async("slow", String.class, step -> {
                        done.add("slow " + step.attempt());
                        executing.pass();
                        return trip;
                    })
                    .get();
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        executing.awaitReached();

        run.cancel();

        awaitCancelled(run);
        assertThat(done).containsExactly("slow 1", "refund");
    }

    @Test
    @Proves({"SAGA-1", "RETRY-1"})
    void a_retry_finds_a_failed_undo_behind_a_failure_that_was_caught() {
        var closed = new AtomicBoolean(true);
        work(TRIP, (ctx, trip) -> {
            try {
                ctx.run("optional", attempts(1), step -> {
                    throw new PermanentFailure("no");
                });
            } catch (StepFailedException goOn) {
                done.add("caught");
            }
            ctx.compensateWith("refund", attempts(1), step -> {
                done.add("refund");
                if (closed.get()) {
                    throw new PermanentFailure("bank is closed");
                }
            });
            throw new PermanentFailure("the end");
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        assertThat(failureOf(run).message()).contains("bank is closed");
        closed.set(false);

        run.retry();

        assertThat(failureOf(run).message()).isEqualTo("the end");
        assertThat(done).containsExactly("caught", "refund", "caught", "refund");
    }

    @Test
    @Proves({"SAGA-1", "LEASE-6"})
    void a_cancelled_run_past_its_crash_budget_ends_without_undoing() throws SQLException {
        var first = work(TRIP, (ctx, trip) -> {
            ctx.compensateWith("refund", () -> done.add("refund"));
            ctx.sleep("long", LONG);
            return trip;
        });
        var run = steadwork.workflow(TRIP).trigger("t-1");
        awaitStatus(run, RunStatus.SLEEPING);
        first.close();
        run.cancel();
        var table = database == TestDatabase.POSTGRES ? "steadwork.run" : "steadwork_run";
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            statement.execute("UPDATE " + table + " SET lost_leases = 99");
        }

        work(TRIP, (ctx, trip) -> trip);

        awaitCancelled(run);
        assertThat(run.info().lastError()).contains(RunError.WORKER_LOST);
        assertThat(done).isEmpty();
    }
}
