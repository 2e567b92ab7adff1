package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.INVALID_STATE;
import static dev.steadwork.ErrorCode.NOT_FOUND;
import static dev.steadwork.RunStatus.CANCELLED;
import static dev.steadwork.RunStatus.COMPLETED;
import static dev.steadwork.RunStatus.PAUSED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.RunStatus.RUNNING;
import static dev.steadwork.RunStatus.SLEEPING;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.RunCancelledException;
import dev.steadwork.RunId;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeleteTest extends EngineTest {
    private static final Workflow<String, String> WORK = Workflow.define("work", String.class, String.class);

    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);

    @BeforeEach
    void register() {
        steadwork.register(WORK);
    }

    @Test
    @Proves("DATA-4")
    void a_deleted_run_keeps_its_record_with_time_and_reason() {
        var run = steadwork.workflow(WORK).trigger("x");

        run.delete("entered twice");

        assertThat(run.info().deletedReason()).isEqualTo("entered twice");
        assertThat(run.info().times().deleted()).isAfterOrEqualTo(run.info().createdAt());
        assertThat(run.status()).isEqualTo(PENDING);
        assertThat(steadwork.runs().count()).isZero();
        assertThat(steadwork.runs().withDeleted().count()).isEqualTo(1);
    }

    @Test
    @Proves({"DATA-4", "CLAIM-2"})
    void a_deleted_run_is_never_claimed() {
        var deleted = steadwork.workflow(WORK).priority(9).trigger("x");
        var kept = steadwork.workflow(WORK).trigger("kept");
        deleted.delete("test");

        work(WORK, (ctx, input) -> input);

        assertThat(kept.await(PATIENCE)).isEqualTo("kept");
        assertThat(deleted.status()).isEqualTo(PENDING);
    }

    @Test
    @Proves({"DATA-4", "CLAIM-2"})
    void a_deleted_run_that_sleeps_does_not_wake() {
        var deleted = steadwork.workflow(WORK).delay(Duration.ofMillis(200)).trigger("x");
        var kept = steadwork.workflow(WORK).delay(Duration.ofMillis(600)).trigger("kept");
        deleted.delete("test");

        work(WORK, (ctx, input) -> input);

        assertThat(kept.await(PATIENCE)).isEqualTo("kept");
        assertThat(deleted.status()).isEqualTo(SLEEPING);
    }

    @Test
    @Proves({"DATA-4", "CLAIM-2"})
    void a_deleted_run_that_is_paused_is_not_claimed_even_when_it_is_resumed() {
        var deleted = steadwork.workflow(WORK).priority(9).trigger("x");
        deleted.pause();
        deleted.delete("test");
        assertThat(deleted.status()).isEqualTo(PAUSED);

        deleted.resume();
        work(WORK, (ctx, input) -> input);

        assertThat(steadwork.workflow(WORK).trigger("kept").await(PATIENCE)).isEqualTo("kept");
        assertThat(deleted.info().startedAt()).isNull();
    }

    @Test
    @Proves("DATA-4")
    void a_finished_run_keeps_its_result_when_it_is_deleted() {
        work(WORK, (ctx, input) -> "done");
        var run = steadwork.workflow(WORK).trigger("x");
        run.await(PATIENCE);

        run.delete("cleaning up");

        assertThat(run.result()).isEqualTo("done");
        assertThat(steadwork.runs().count()).isZero();
    }

    @Test
    @Proves("DATA-4")
    void a_running_run_that_is_deleted_may_finish() throws InterruptedException {
        workUntilReleased();
        var run = steadwork.workflow(WORK).trigger("x");
        started.await();

        run.delete("too late");
        assertThat(run.status()).isEqualTo(RUNNING);
        release.countDown();

        assertThat(run.await(PATIENCE)).isEqualTo("second");
        assertThat(run.status()).isEqualTo(COMPLETED);
        assertThat(run.info().deletedReason()).isEqualTo("too late");
    }

    @Test
    @Proves({"DATA-4", "CANCEL-1"})
    void a_running_run_that_is_deleted_and_cancelled_ends_as_cancelled() throws InterruptedException {
        workUntilReleased();
        var run = steadwork.workflow(WORK).trigger("x");
        started.await();

        run.delete("not wanted");
        run.cancel();

        assertThatThrownBy(() -> run.await(PATIENCE)).isInstanceOf(RunCancelledException.class);
        assertThat(run.status()).isEqualTo(CANCELLED);
    }

    @Test
    @Proves("DATA-4")
    void a_run_is_deleted_once() {
        var run = steadwork.workflow(WORK).trigger("x");
        run.delete("first reason");
        var deletedAt = run.info().times().deleted();

        run.delete("second reason");

        assertThat(run.info().deletedReason()).isEqualTo("first reason");
        assertThat(run.info().times().deleted()).isEqualTo(deletedAt);
    }

    @Test
    @Proves({"DATA-4", "RETRY-1"})
    void a_deleted_run_is_not_retried() {
        var run = steadwork.workflow(WORK).trigger("x");
        run.cancel();
        run.delete("test");

        assertRefused(INVALID_STATE, run::retry, "deleted");
    }

    @Test
    @Proves("DATA-4")
    void deleting_an_unknown_run_says_that_it_is_unknown() {
        var unknown = new RunId(UUID.fromString("0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e"));

        assertRefused(NOT_FOUND, () -> steadwork.run(unknown).delete("test"), unknown.toString());
    }

    private void workUntilReleased() {
        work(WORK, (ctx, input) -> {
            ctx.step("first", String.class, step -> {
                started.countDown();
                release.await();
                return "first";
            });
            return ctx.step("second", String.class, step -> "second");
        });
    }
}
