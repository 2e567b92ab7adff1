package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.Observer;
import dev.steadwork.PermanentFailure;
import dev.steadwork.RunStatus;
import dev.steadwork.Workflow;
import dev.steadwork.metrics.SteadworkMetrics;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Script;
import dev.steadwork.testing.WorkerProcess;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@Proves("OPS-4")
class MetricsTest extends EngineTest {
    private static final Workflow<String, String> GREET = Workflow.define("greet", String.class, String.class);
    private static final Workflow<String, String> OTHER = Workflow.define("other", String.class, String.class);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void every_meter_of_a_run_moves() {
        SteadworkMetrics.bind(steadwork, registry);
        work(GREET, (ctx, name) -> {
            ctx.sleep("a while", Duration.ofMillis(20));
            return ctx.step("greet", String.class, Runs.attempts(3), step -> {
                if (name.isEmpty()) {
                    throw new PermanentFailure("nobody is there");
                }
                if (step.attempt() == 1) {
                    throw new IllegalStateException("not yet");
                }
                return "Hello " + name;
            });
        });

        var runs = steadwork.workflow(GREET).triggerAll(List.of("Ada", "Bob", ""));
        runs.forEach(Runs::awaitEnd);

        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(counter("steadwork.runs", "type", "greet", "status", "completed"))
                    .isEqualTo(2);
            assertThat(counter("steadwork.runs", "type", "greet", "status", "failed"))
                    .isEqualTo(1);
        });
        assertThat(counter("steadwork.retries", "type", "greet")).isEqualTo(2);
        assertThat(registry.get("steadwork.step").tag("type", "greet").timer().count())
                .isEqualTo(5);
        var lateness =
                registry.get("steadwork.timer.lateness").tag("type", "greet").timer();
        assertThat(lateness.count()).isEqualTo(3);
        assertThat(lateness.max(TimeUnit.SECONDS)).isLessThan(PATIENCE.toSeconds());
        assertThat(registry.get("steadwork.claim").timer().count()).isPositive();
        assertThat(registry.get("steadwork.claim.runs").summary().totalAmount()).isEqualTo(6);
        assertThat(registry.get("steadwork.commit").timer().count()).isPositive();
        assertThat(registry.get("steadwork.commit.writes").summary().totalAmount())
                .isGreaterThanOrEqualTo(8);
    }

    private double counter(String name, String... tags) {
        return registry.get(name).tags(tags).counter().count();
    }

    @Test
    void a_lost_lease_is_counted() throws InterruptedException {
        SteadworkMetrics.bind(steadwork, registry);
        var gate = new Gate();
        work(GREET, (ctx, name) -> {
            gate.pass();
            return name;
        });
        var run = steadwork.workflow(GREET).trigger("Ada");
        gate.awaitReached();

        run.terminate("a test");

        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() -> counter("steadwork.lease.losses", "type", "greet") == 1);
    }

    @Test
    void queues_are_gauged() {
        steadwork.register(GREET, OTHER);
        steadwork.workflow(GREET).triggerAll(List.of("Ada", "Bob"));
        steadwork.workflow(GREET).delay(Duration.ofHours(1)).trigger("Cyd");

        SteadworkMetrics.bind(steadwork, registry);

        assertThat(depth("greet", "ready")).isEqualTo(2);
        assertThat(depth("greet", "sleeping")).isEqualTo(1);
        assertThat(depth("greet", "running")).isZero();
        assertThat(depth("other", "ready")).isZero();
        assertThat(registry.get("steadwork.queues").gauge().value()).isEqualTo(2);
        assertThat(registry.get("steadwork.queue.oldest")
                        .tag("queue", "greet")
                        .gauge()
                        .value())
                .isBetween(0.0, (double) PATIENCE.toSeconds());
        steadwork.workflow(GREET).trigger("Dee");
        assertThat(depth("greet", "ready")).as("asked again only after a while").isEqualTo(2);
    }

    private double depth(String queue, String state) {
        return registry.get("steadwork.queue.depth")
                .tags("queue", queue, "state", state)
                .gauge()
                .value();
    }

    @Test
    void an_observer_that_fails_harms_no_run() {
        steadwork.observe(new Observer() {
            @Override
            public void runEnded(String type, RunStatus status) {
                throw new IllegalStateException("a bad observer");
            }

            @Override
            public void committed(int writes, Duration took) {
                throw new IllegalStateException("a bad observer");
            }
        });
        work(GREET, (ctx, name) -> "Hello " + name);

        assertThat(steadwork.workflow(GREET).trigger("Ada").await(PATIENCE)).isEqualTo("Hello Ada");
    }

    @Test
    void a_worker_needs_no_micrometer() {
        var run = steadwork.workflow(Script.SCRIPT).trigger(List.of("step a"));
        try (var process = WorkerProcess.startWithout("micrometer", url, Duration.ofSeconds(2))) {
            process.report().awaitLine("kept a " + run.id());

            assertThat(run.await(PATIENCE)).hasSize(1);
        }
    }
}
