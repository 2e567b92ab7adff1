package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.behaviour.Runs.attempts;
import static dev.steadwork.behaviour.Runs.failureOf;
import static dev.steadwork.behaviour.Runs.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.DeadLetter;
import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunHandle;
import dev.steadwork.RunInfo;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DeadLetterTest extends EngineTest {
    private static final Workflow<DeadLetter, Void> BURY = Workflow.define("bury", DeadLetter.class, Void.class);
    private static final Workflow<String, String> ORDER =
            Workflow.define("order", String.class, String.class).retry(quick(3)).deadLetter(BURY);

    private final BlockingQueue<DeadLetter> buried = new LinkedBlockingQueue<>();

    @Test
    @Proves("DEAD-1")
    void a_failed_run_triggers_its_dead_letter_workflow_with_id_input_and_error() throws InterruptedException {
        startWorker();

        var run = trigger("bad");
        var error = failureOf(run);

        assertThat(nextLetter()).isEqualTo(new DeadLetter(run.id(), "order", run.input(), error));
        assertThat(error.message()).isEqualTo("bad order");
    }

    @Test
    @Proves("DEAD-1")
    void a_failed_step_triggers_it_too() throws InterruptedException {
        startWorker();

        var run = trigger("bad step");
        var error = failureOf(run);

        assertThat(error.step()).isEqualTo("charge");
        assertThat(nextLetter().error()).isEqualTo(error);
    }

    @Test
    @Proves({"DEAD-1", "RUN-1"})
    void the_dead_letter_names_the_failed_run_as_its_parent() {
        startWorker();

        var run = trigger("bad");
        failureOf(run);

        var letter = letterOf(steadwork, run);
        assertThat(letter.type()).isEqualTo("bury");
        assertThat(letter.queue()).isEqualTo("bury");
        assertThat(letter.parent()).isEqualTo(new RunInfo.Parent(run.id(), null));
    }

    @Test
    @Proves({"DEAD-1", "DATA-1"})
    void a_binary_input_reaches_it_as_it_was() throws InterruptedException {
        startWorker();
        var bytes = new byte[] {0, -1, 127, -128, 13, 10};

        var run = steadwork.workflow("order").triggerBytes(bytes, "image/x-broken");
        failureOf(run);

        assertThat(nextLetter().input()).isEqualTo(new Payload(bytes, "image/x-broken"));
    }

    @Test
    @Proves("DEAD-1")
    void it_exists_as_soon_as_its_run_has_failed() {
        startWorker();
        var elsewhere = open(settings -> settings);
        steadwork
                .workflow(ORDER)
                .triggerAll(IntStream.range(0, 200).mapToObj(i -> "bad").toList());

        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
            long failed = elsewhere.runs().type("order").status(FAILED).count();
            assertThat(elsewhere.runs().type("bury").count()).isGreaterThanOrEqualTo(failed);
            return failed == 200;
        });
        assertThat(elsewhere.runs().type("bury").count()).isEqualTo(200);
    }

    @Test
    @Proves({"DEAD-1", "RUN-6"})
    void a_run_that_waits_beyond_its_deadline_triggers_it() throws InterruptedException {
        steadwork.register(ORDER);
        startUndertaker();

        var run = steadwork.workflow(ORDER).deadline(Duration.ofMillis(100)).trigger("o-1");
        var error = failureOf(run);

        assertThat(error.type()).isEqualTo(RunError.DEADLINE_EXCEEDED);
        assertThat(nextLetter()).isEqualTo(new DeadLetter(run.id(), "order", run.input(), error));
    }

    @Test
    @Proves({"DEAD-1", "RUN-6"})
    void every_waiting_run_beyond_its_deadline_triggers_one() throws InterruptedException {
        steadwork.register(ORDER);
        var names = IntStream.range(0, 250).mapToObj(i -> "o-" + i).toList();
        var runs = steadwork.workflow(ORDER).deadline(Duration.ofMillis(1)).triggerAll(names);
        startUndertaker();

        for (int i = 0; i < runs.size(); i++) {
            assertThat(nextLetter().error().type()).isEqualTo(RunError.DEADLINE_EXCEEDED);
        }

        assertThat(steadwork.runs().type("bury").count()).isEqualTo(250);
        assertThat(steadwork.runs().type("order").status(FAILED).count()).isEqualTo(250);
    }

    @Test
    @Proves({"DEAD-1", "RUN-6"})
    void a_running_run_that_exceeds_its_deadline_triggers_it() throws InterruptedException {
        startWorker();

        var run = steadwork.workflow(ORDER).deadline(Duration.ofMillis(500)).trigger("sleepy");

        assertThat(failureOf(run).type()).isEqualTo(RunError.DEADLINE_EXCEEDED);
        assertThat(nextLetter().runId()).isEqualTo(run.id());
    }

    @Test
    @Proves("DEAD-1")
    void only_the_last_failure_of_a_run_triggers_it() throws InterruptedException {
        startWorker();

        failureOf(trigger("bad"));
        trigger("recovers").await(PATIENCE);

        assertThat(nextLetter().input()).hasToString("\"bad\"");
        assertThat(steadwork.runs().type("bury").count()).isEqualTo(1);
    }

    @Test
    @Proves("DEAD-1")
    void runs_that_complete_or_are_cancelled_leave_none() {
        startWorker();
        trigger("good").await(PATIENCE);
        steadwork.workflow(ORDER).delay(Duration.ofHours(1)).trigger("good").cancel();
        steadwork.workflow(ORDER).delay(Duration.ofHours(1)).trigger("good").terminate("enough");

        assertThat(steadwork.runs().type("bury").count()).isZero();
    }

    @Test
    @Proves({"DEAD-1", "RETRY-1"})
    void a_run_that_is_retried_and_fails_again_leaves_another() throws InterruptedException {
        startWorker();
        var run = trigger("bad");
        failureOf(run);

        run.retry();
        failureOf(run);

        assertThat(List.of(nextLetter().runId(), nextLetter().runId())).containsOnly(run.id());
    }

    @Test
    @Proves("DEAD-1")
    void it_waits_if_nobody_handles_or_even_knows_its_workflow() {
        work(ORDER, (ctx, order) -> fail(order));

        var run = trigger("bad");
        failureOf(run);

        assertThat(letterOf(steadwork, run).status()).isEqualTo(PENDING);
    }

    private void startWorker() {
        work(ORDER, (ctx, order) -> switch (order) {
            case "bad" -> fail(order);
            case "bad step" -> ctx.step("charge", String.class, attempts(2), step -> fail(order));
            case "sleepy" -> {
                ctx.sleep("nap", Duration.ofHours(1));
                yield order;
            }
            case "recovers" -> ctx.attempt() < 3 ? fail(order) : order;
            default -> order;
        });
        startUndertaker();
    }

    private void startUndertaker() {
        work(BURY, (ctx, letter) -> {
            buried.add(letter);
            return null;
        });
    }

    private RunHandle<String> trigger(String order) {
        return steadwork.workflow(ORDER).trigger(order);
    }

    private DeadLetter nextLetter() throws InterruptedException {
        var letter = buried.poll(30, TimeUnit.SECONDS);
        assertThat(letter).as("dead letter").isNotNull();
        return letter;
    }

    private static RunInfo letterOf(Steadwork engine, RunHandle<?> failed) {
        var letters = engine.runs().parent(failed.id()).page(10).items();
        assertThat(letters).hasSize(1);
        return letters.get(0);
    }

    private static String fail(String order) {
        throw new IllegalStateException(order + " order");
    }
}
