package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.PAYLOAD_TOO_LARGE;
import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.steadwork.Payload;
import dev.steadwork.PayloadTooLarge;
import dev.steadwork.RunFailedException;
import dev.steadwork.RunHandle;
import dev.steadwork.Steadwork;
import dev.steadwork.StepOptions;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowHandler;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class PayloadTest extends EngineTest {
    private static final Workflow<byte[], byte[]> ECHO = Workflow.define("echo", byte[].class, byte[].class);
    private static final Workflow<String, String> TEXT = Workflow.define("text", String.class, String.class);
    private static final int WARN = 100;
    private static final int LIMIT = 200;
    private static final int MEBIBYTE = 1 << 20;

    @Test
    @Proves({"DATA-1", "V6"})
    void every_byte_value_passes_through_input_step_and_output_unchanged() {
        var bytes = new byte[256];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        var received = new AtomicReference<byte[]>();
        work(ECHO, (ctx, input) -> {
            received.set(input);
            return ctx.step("same", byte[].class, StepOptions.defaults().input(input), step -> input);
        });

        var run = steadwork.workflow(ECHO).trigger(bytes);

        assertThat(run.await(PATIENCE)).isEqualTo(bytes);
        assertThat(received.get()).isEqualTo(bytes);
        assertThat(run.input()).isEqualTo(new Payload(bytes, Payload.BYTES));
        assertThat(run.steps().get(0).input()).isEqualTo(new Payload(bytes, Payload.BYTES));
        assertThat(run.steps().get(0).output()).isEqualTo(new Payload(bytes, Payload.BYTES));
    }

    @Test
    @Proves({"DATA-1", "V6"})
    void a_megabyte_of_noise_passes_unchanged() {
        var noise = new byte[MEBIBYTE];
        new Random(3).nextBytes(noise);
        work(ECHO, (ctx, input) -> input);

        assertThat(steadwork.workflow(ECHO).trigger(noise).await(PATIENCE)).isEqualTo(noise);
    }

    @Test
    @Proves("DATA-1")
    void bytes_keep_the_content_type_they_were_given() {
        steadwork.register(ECHO);
        var bytes = "<a/>".getBytes(StandardCharsets.UTF_8);

        var run = steadwork.workflow("echo").triggerBytes(bytes, "application/xml; charset=utf-8");

        assertThat(run.input()).isEqualTo(new Payload(bytes, "application/xml; charset=utf-8"));
        work(ECHO, (ctx, input) -> input);
        assertThat(steadwork.run(run.id(), ECHO).await(PATIENCE)).isEqualTo(bytes);
    }

    @Test
    @Proves("DATA-1")
    void the_engine_does_not_look_into_payloads() {
        steadwork.register(TEXT);
        var broken = "{ not json \u0000".getBytes(StandardCharsets.UTF_8);

        var run = steadwork.workflow("text").triggerBytes(broken, Payload.JSON);

        assertThat(run.input().bytes()).isEqualTo(broken);
    }

    @Test
    @Proves("DATA-1")
    void a_missing_input_reaches_the_handler_as_null_and_is_stored_as_empty() {
        work(TEXT, (ctx, input) -> input == null ? "nothing" : "something");

        var missing = steadwork.workflow(TEXT).trigger(null);
        var empty = steadwork.workflow(TEXT).trigger("");

        assertThat(missing.await(PATIENCE)).isEqualTo("nothing");
        assertThat(missing.input()).isEqualTo(Payload.NONE);
        assertThat(empty.await(PATIENCE)).isEqualTo("something");
    }

    @Test
    @Proves("DATA-1")
    void null_and_empty_results_are_told_apart() {
        work(ECHO, (ctx, input) -> input);

        var nothing = steadwork.workflow(ECHO).trigger(null);
        var empty = steadwork.workflow(ECHO).trigger(new byte[0]);

        assertThat(nothing.await(PATIENCE)).isNull();
        assertThat(nothing.result()).isNull();
        assertThat(empty.await(PATIENCE)).isEmpty();
        assertThat(empty.result()).isEmpty();
    }

    @Test
    @Proves("DATA-1")
    void null_and_empty_results_of_steps_are_told_apart_after_a_replay() {
        work(ECHO, (ctx, input) -> {
            var nothing = ctx.step("nothing", byte[].class, step -> null);
            var empty = ctx.step("empty", byte[].class, step -> new byte[0]);
            ctx.sleep("replay", Duration.ofMillis(10));
            return new byte[] {(byte) (nothing == null ? 1 : 0), (byte) (empty != null && empty.length == 0 ? 1 : 0)};
        });

        assertThat(steadwork.workflow(ECHO).trigger(null).await(PATIENCE)).containsExactly(1, 1);
    }

    @Test
    @Proves({"DATA-2", "V9"})
    void an_input_may_be_as_large_as_the_limit_and_not_a_byte_larger() {
        var engine = limited();
        engine.register(ECHO);

        engine.workflow(ECHO).trigger(new byte[LIMIT]);
        var refusal = catchThrowableOfType(
                PayloadTooLarge.class, () -> engine.workflow(ECHO).trigger(new byte[LIMIT + 1]));

        assertThat(refusal.size()).isEqualTo(LIMIT + 1);
        assertThat(refusal.limit()).isEqualTo(LIMIT);
        assertThat(refusal)
                .hasMessageContainingAll(
                        "Input of workflow echo", "201 bytes", "200 bytes", "external storage", "reference");
        assertThat(engine.runs().count()).isEqualTo(1);
    }

    @Test
    @Proves({"DATA-2", "V9"})
    void bytes_given_as_they_are_have_the_same_limit() {
        var engine = limited();
        engine.register(ECHO);

        engine.workflow("echo").triggerBytes(new byte[LIMIT], "image/png");

        assertRefused(
                PAYLOAD_TOO_LARGE,
                () -> engine.workflow("echo").triggerBytes(new byte[LIMIT + 1], "image/png"),
                "Input of workflow echo");
    }

    @Test
    @Proves({"DATA-2", "V9"})
    void the_limit_is_two_mebibytes_by_default() {
        work(ECHO, (ctx, input) -> input);

        var largest = steadwork.workflow(ECHO).trigger(new byte[2 * MEBIBYTE]);

        assertThat(largest.await(PATIENCE)).hasSize(2 * MEBIBYTE);
        assertRefused(PAYLOAD_TOO_LARGE, () -> steadwork.workflow(ECHO).trigger(new byte[2 * MEBIBYTE + 1]));
    }

    @Test
    @Proves({"DATA-2", "V9"})
    void an_output_over_the_limit_fails_the_run_without_another_attempt() {
        var calls = new AtomicInteger();

        var largest = execute((ctx, input) -> new byte[LIMIT]);
        var refused = execute((ctx, input) -> {
            calls.incrementAndGet();
            return new byte[LIMIT + 1];
        });

        assertThat(largest.await(PATIENCE)).hasSize(LIMIT);
        assertFailedAsTooLarge(refused, "Output of run");
        assertThat(calls).hasValue(1);
    }

    @Test
    @Proves({"DATA-2", "V9"})
    void a_step_output_over_the_limit_fails_the_step_without_another_attempt() {
        var bodies = new AtomicInteger();

        var largest = execute((ctx, input) -> ctx.step("fits", byte[].class, step -> new byte[LIMIT]));
        var refused = execute((ctx, input) -> ctx.step("huge", byte[].class, step -> {
            bodies.incrementAndGet();
            return new byte[LIMIT + 1];
        }));

        assertThat(largest.await(PATIENCE)).hasSize(LIMIT);
        assertFailedAsTooLarge(refused, "Output of step huge");
        assertThat(bodies).hasValue(1);
    }

    @Test
    @Proves({"DATA-2", "V9"})
    void a_step_input_over_the_limit_fails_before_the_body_is_executed() {
        var bodies = new AtomicInteger();
        var fits = StepOptions.defaults().input(new byte[LIMIT]);
        var huge = StepOptions.defaults().input(new byte[LIMIT + 1]);

        var largest = execute((ctx, input) -> ctx.step("fits", byte[].class, fits, step -> new byte[1]));
        var refused = execute((ctx, input) -> ctx.step("huge", byte[].class, huge, step -> {
            bodies.incrementAndGet();
            return new byte[1];
        }));

        assertThat(largest.await(PATIENCE)).hasSize(1);
        assertFailedAsTooLarge(refused, "Input of step huge");
        assertThat(bodies).hasValue(0);
    }

    @Test
    @Proves({"DATA-2", "V9"})
    void a_large_payload_is_warned_of_and_accepted() {
        var engine = limited();
        var small = Workflow.define("exactly-at-the-warning-size", byte[].class, byte[].class);
        var large = Workflow.define("just-over-the-warning-size", byte[].class, byte[].class);
        engine.register(small, large);

        var log = captureLog(() -> {
            engine.workflow(small).trigger(new byte[WARN]);
            engine.workflow(large).trigger(new byte[WARN + 1]);
        });

        assertThat(log)
                .contains("Input of workflow just-over-the-warning-size is 101 bytes", "100 bytes", "external storage")
                .doesNotContain("exactly-at-the-warning-size");
        assertThat(engine.runs().count()).isEqualTo(2);
    }

    private static String captureLog(Runnable action) {
        var original = System.err;
        var log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            action.run();
        } finally {
            System.setErr(original);
        }
        return log.toString(StandardCharsets.UTF_8);
    }

    private RunHandle<byte[]> execute(WorkflowHandler<byte[], byte[]> handler) {
        var engine = limited();
        var workflow = Workflow.define("w" + System.identityHashCode(handler), byte[].class, byte[].class);
        engine.worker().handle(workflow, handler).start();
        return engine.workflow(workflow).trigger(null);
    }

    private static void assertFailedAsTooLarge(RunHandle<byte[]> run, String context) {
        var failure = catchThrowableOfType(RunFailedException.class, () -> run.await(PATIENCE));

        assertThat(failure.error().type()).isEqualTo(PayloadTooLarge.class.getName());
        assertThat(failure).hasMessageContainingAll(context, "201 bytes", "200 bytes");
        assertThat(run.status()).isEqualTo(FAILED);
    }

    private Steadwork limited() {
        return open(settings -> settings.payloadLimits(WARN, LIMIT));
    }
}
