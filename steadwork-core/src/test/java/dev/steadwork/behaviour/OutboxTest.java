package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.INVALID_ARGUMENT;
import static dev.steadwork.ErrorCode.NOT_FOUND;
import static dev.steadwork.EventKind.CREATED;
import static dev.steadwork.EventKind.STARTED;
import static dev.steadwork.EventKind.SUCCEEDED;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.EventKind;
import dev.steadwork.EventPublisher;
import dev.steadwork.OutboxEvent;
import dev.steadwork.PermanentFailure;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OutboxTest extends EngineTest {
    private static final Workflow<String, String> PAY = Workflow.define("pay", String.class, String.class);
    private static final RetryPolicy QUICK =
            RetryPolicy.defaults().withMaxAttempts(3).withInitialInterval(Duration.ofMillis(10));

    private final List<OutboxEvent> published = Collections.synchronizedList(new ArrayList<>());

    private Steadwork publishing(EventPublisher publisher) {
        var engine = open(settings -> settings.outbox(publisher, QUICK));
        engine.namespaces().create("default", n -> n.outbox(true));
        engine.worker().handle(PAY, (ctx, input) -> input).start();
        return engine;
    }

    private List<EventKind> kindsOf(RunId run) {
        synchronized (published) {
            return published.stream()
                    .filter(event -> event.run().equals(run))
                    .map(OutboxEvent::kind)
                    .toList();
        }
    }

    private static void awaitEmpty(Steadwork engine) {
        await().atMost(PATIENCE).until(() -> engine.outbox().stats().waiting() == 0);
    }

    @Test
    @Proves("DATA-6")
    void the_milestones_of_runs_are_published_in_order_run_by_run() {
        var engine = publishing(published::add);

        var runs = engine.workflow(PAY).triggerAll(Collections.nCopies(50, "x"));
        runs.forEach(run -> run.await(PATIENCE));
        awaitEmpty(engine);

        for (RunHandle<String> run : runs) {
            assertThat(kindsOf(run.id())).containsExactly(CREATED, STARTED, SUCCEEDED);
        }
        assertThat(published)
                .extracting(OutboxEvent::id)
                .doesNotHaveDuplicates()
                .hasSize(150);
        assertThat(published).extracting(OutboxEvent::workflow).containsOnly("pay");
        assertThat(engine.outbox().stats().oldestWaiting()).isNull();
    }

    @Test
    @Proves("DATA-6")
    void a_failed_event_is_tried_again_before_those_that_follow_it() {
        var tries = new ConcurrentHashMap<String, AtomicInteger>();
        var engine = publishing(event -> {
            if (tries.computeIfAbsent(event.id(), id -> new AtomicInteger()).incrementAndGet() < 3) {
                throw new IOException("not yet");
            }
            published.add(event);
        });

        var run = engine.workflow(PAY).trigger("x");
        run.await(PATIENCE);
        awaitEmpty(engine);

        assertThat(kindsOf(run.id())).containsExactly(CREATED, STARTED, SUCCEEDED);
        assertThat(tries.values()).extracting(AtomicInteger::get).containsOnly(3);
    }

    @Test
    @Proves("DATA-6")
    void a_publisher_that_hangs_is_interrupted_and_the_event_tried_again() {
        var never = new CountDownLatch(1);
        var hanging = new AtomicInteger();
        var engine = open(settings -> settings.lease(Duration.ofMillis(600))
                .heartbeat(Duration.ofMillis(200))
                .outbox(
                        event -> {
                            if (event.kind() == STARTED && hanging.incrementAndGet() == 1) {
                                never.await();
                            }
                            published.add(event);
                        },
                        QUICK));
        engine.namespaces().create("default", n -> n.outbox(true));
        engine.worker().handle(PAY, (ctx, input) -> input).start();

        var run = engine.workflow(PAY).trigger("x");
        run.await(PATIENCE);
        awaitEmpty(engine);

        assertThat(kindsOf(run.id())).containsExactly(CREATED, STARTED, SUCCEEDED);
        assertThat(hanging).hasValue(2);
    }

    @Test
    @Proves("DATA-6")
    void an_event_that_nobody_takes_goes_to_the_dead_ones_and_the_rest_flows() {
        var refused = new AtomicInteger();
        var taking = new ConcurrentHashMap<>(Map.of("started", false));
        var engine = publishing(event -> {
            if (event.kind() == STARTED && !taking.get("started")) {
                refused.incrementAndGet();
                throw new IOException("no " + event.id());
            }
            published.add(event);
        });

        var run = engine.workflow(PAY).trigger("x");
        run.await(PATIENCE);
        awaitEmpty(engine);

        assertThat(kindsOf(run.id())).containsExactly(CREATED, SUCCEEDED);
        assertThat(refused).hasValue(3);
        assertThat(engine.outbox().stats().dead()).isEqualTo(1);
        var dead = engine.outbox().dead(10).get(0);
        assertThat(dead.event().kind()).isEqualTo(STARTED);
        assertThat(dead.failures()).isEqualTo(3);
        assertThat(dead.error()).isEqualTo("no " + dead.event().id());

        taking.put("started", true);
        engine.outbox().redrive(dead.event().number());

        await().atMost(PATIENCE).until(() -> kindsOf(run.id()).contains(STARTED));
        awaitEmpty(engine);
        assertThat(engine.outbox().stats().dead()).isZero();
        assertThat(engine.outbox().redriveAll()).isZero();
    }

    @Test
    @Proves("DATA-6")
    void a_permanent_failure_is_not_tried_again_and_what_was_not_tried_is_not_counted() {
        var asked = new AtomicInteger();
        var engine = publishing(event -> {
            if (event.kind() == CREATED) {
                asked.incrementAndGet();
                throw new PermanentFailure("never");
            }
            if (event.kind() == STARTED && asked.incrementAndGet() < 10) {
                throw new EventPublisher.NotNow(Duration.ofMillis(10), "later");
            }
            published.add(event);
        });

        var run = engine.workflow(PAY).trigger("x");
        run.await(PATIENCE);
        awaitEmpty(engine);

        assertThat(kindsOf(run.id())).containsExactly(STARTED, SUCCEEDED);
        assertThat(engine.outbox().dead(10))
                .extracting(dead -> dead.event().kind())
                .containsExactly(CREATED);
        assertThat(asked).hasValue(10);
    }

    @Test
    @Proves("DATA-6")
    void several_processes_share_the_work_and_keep_the_order() {
        var engine = publishing(published::add);
        for (int i = 0; i < 2; i++) {
            open(settings -> settings.outbox(published::add, QUICK))
                    .worker()
                    .handle(PAY, (ctx, input) -> input)
                    .start();
        }

        var runs = engine.workflow(PAY).triggerAll(Collections.nCopies(100, "x"));
        runs.forEach(run -> run.await(PATIENCE));
        awaitEmpty(engine);

        for (var run : runs) {
            assertThat(kindsOf(run.id()))
                    .startsWith(CREATED)
                    .endsWith(SUCCEEDED)
                    .contains(STARTED);
        }
    }

    @Test
    @Proves("DATA-6")
    void what_is_asked_of_the_outbox_is_checked() {
        assertRefused(INVALID_ARGUMENT, () -> steadwork.outbox().dead(0), "limit", "1000");
        assertRefused(NOT_FOUND, () -> steadwork.outbox().redrive(7), "7");
        assertRefused(INVALID_ARGUMENT, () -> Steadwork.builder().outbox(null), "publisher");
    }
}
