package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.INVALID_ARGUMENT;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RetryPolicy;
import dev.steadwork.RunHandle;
import dev.steadwork.Steadwork;
import dev.steadwork.Webhook;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.Script;
import dev.steadwork.testing.TestDispatcherMain;
import dev.steadwork.testing.TestWebhookMain;
import dev.steadwork.testing.WorkerProcess;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Events over HTTP, to an endpoint in another process. */
class WebhookTest extends EngineTest {
    private static final String SECRET = "0123456789abcdef";
    private static final String RUN = "dev.steadwork.run.";
    private static final RetryPolicy QUICK = RetryPolicy.defaults()
            .withMaxAttempts(3)
            .withInitialInterval(Duration.ofMillis(20))
            .withMaxInterval(Duration.ofMillis(50));

    private final List<WorkerProcess> processes = new ArrayList<>();

    @AfterEach
    void endProcesses() {
        processes.forEach(WorkerProcess::close);
    }

    private WorkerProcess endpoint(String refusedType, int answer) {
        var endpoint = WorkerProcess.start(TestWebhookMain.class, SECRET, refusedType, Integer.toString(answer));
        processes.add(endpoint);
        await().atMost(PATIENCE).until(() -> !endpoint.report().linesOf("port").isEmpty());
        return endpoint;
    }

    private static String url(WorkerProcess endpoint, String path) {
        return "http://localhost:" + endpoint.report().linesOf("port").get(0) + path;
    }

    private Steadwork publishing(Webhook webhook) {
        var engine = open(settings -> settings.webhook(webhook, QUICK));
        engine.namespaces().create("default", n -> n.outbox(true));
        engine.worker().handle(SCRIPT, new Script(line -> {})).start();
        return engine;
    }

    /** The types of the events of a run that the endpoint took, in the order in which each first came. */
    private static List<String> taken(WorkerProcess endpoint, RunHandle<?> run) {
        return List.copyOf(new LinkedHashSet<>(endpoint.report().linesOf("204").stream()
                .filter(line -> line.startsWith(run.id().toString()))
                .map(line -> line.split(" ")[1].substring(RUN.length()))
                .toList()));
    }

    private static void awaitEmpty(Steadwork engine) {
        await().atMost(PATIENCE).until(() -> engine.outbox().stats().waiting() == 0);
    }

    @Test
    @Proves("DATA-6")
    void events_arrive_as_signed_cloud_events_in_order() {
        var endpoint = endpoint("none", 400);
        var engine = publishing(Webhook.to(url(endpoint, "/events"), SECRET));

        var run = engine.workflow(SCRIPT).trigger(List.of("step a"));
        run.await(PATIENCE);
        awaitEmpty(engine);

        assertThat(taken(endpoint, run)).containsExactly("created", "started", "succeeded");
        assertThat(endpoint.report().linesOf("204"))
                .hasSize(3)
                .allSatisfy(line -> assertThat(line)
                        .contains("application/cloudevents+json")
                        .endsWith("signed"));
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 410})
    @Proves("DATA-6")
    void an_event_that_the_endpoint_never_takes_goes_dead_and_the_rest_flows(int answer) {
        var endpoint = endpoint(RUN + "started", answer);
        var engine = publishing(Webhook.to(url(endpoint, "/events"), SECRET).circuit(2, Duration.ofHours(1)));

        var runs = engine.workflow(SCRIPT).triggerAll(Collections.nCopies(5, List.of("step a")));
        runs.forEach(run -> run.await(PATIENCE));
        awaitEmpty(engine);

        assertThat(runs).allSatisfy(run -> assertThat(taken(endpoint, run)).containsExactly("created", "succeeded"));
        assertThat(engine.outbox().stats().dead()).isEqualTo(5);
        assertThat(engine.outbox().dead(1).get(0).error()).contains(Integer.toString(answer));
        assertThat(endpoint.report().linesOf(Integer.toString(answer))).hasSize(answer == 410 ? 5 : 15);
    }

    @Test
    @Proves("DATA-6")
    void an_endpoint_that_is_down_is_left_alone_for_a_while_and_nothing_is_given_up() throws Exception {
        var endpoint = endpoint("none", 400);
        answer(endpoint, 503);
        var engine = publishing(Webhook.to(url(endpoint, "/events"), SECRET).circuit(2, Duration.ofMillis(1500)));

        var runs = engine.workflow(SCRIPT).triggerAll(Collections.nCopies(10, List.of("step a")));
        runs.forEach(run -> run.await(PATIENCE));
        await().atMost(PATIENCE).until(() -> endpoint.report().linesOf("503").size() >= 2);
        int calls = endpoint.report().linesOf("503").size();
        await().pollDelay(Duration.ofMillis(700)).until(() -> true);

        assertThat(endpoint.report().linesOf("503")).hasSizeBetween(calls, 18);
        answer(endpoint, 204);
        awaitEmpty(engine);
        assertThat(engine.outbox().stats().dead()).isZero();
        assertThat(runs)
                .allSatisfy(run -> assertThat(taken(endpoint, run)).containsExactly("created", "started", "succeeded"));
    }

    private static void answer(WorkerProcess endpoint, int status) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url(endpoint, "/status/" + status)))
                .build();
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());
    }

    @Test
    @Proves("DATA-6")
    void redirects_are_not_followed_and_large_events_go_dead_with_the_reason() {
        var endpoint = endpoint("none", 400);
        var engine = publishing(Webhook.to(url(endpoint, "/moved"), SECRET));
        engine.workflow(SCRIPT).trigger(List.of("step a")).await(PATIENCE);
        awaitEmpty(engine);

        assertThat(engine.outbox().dead(1).get(0).error()).contains("307");
        assertThat(endpoint.report().linesOf("204")).isEmpty();
        engine.close();

        var narrow = open(settings ->
                settings.webhook(Webhook.to(url(endpoint, "/events"), SECRET).maxBytes(50), QUICK));
        narrow.worker().handle(SCRIPT, new Script(line -> {})).start();
        narrow.outbox().redriveAll();
        await().atMost(PATIENCE)
                .until(() -> narrow.outbox().dead(3).stream()
                        .allMatch(dead -> dead.error().contains("over the limit of 50 bytes")));
        assertThat(endpoint.report().linesOf("204")).isEmpty();
    }

    @Test
    @Proves("DATA-6")
    void an_answer_that_never_ends_is_a_failure_and_holds_up_nothing() {
        var endpoint = endpoint("none", 400);
        var engine = publishing(Webhook.to(url(endpoint, "/endless"), SECRET)
                .timeout(Duration.ofMillis(300))
                .circuit(100, Duration.ofHours(1)));

        engine.workflow(SCRIPT).trigger(List.of("step a")).await(PATIENCE);
        awaitEmpty(engine);

        assertThat(engine.outbox().dead(10))
                .hasSize(3)
                .allSatisfy(dead -> assertThat(dead.error()).contains("within 300 ms"));
    }

    @Test
    @Proves("DATA-6")
    void every_event_arrives_in_order_although_dispatchers_are_killed() {
        var endpoint = endpoint("none", 400);
        steadwork.namespaces().create("default", n -> n.outbox(true));
        steadwork.register(SCRIPT);
        var runs = steadwork.workflow(SCRIPT).triggerAll(Collections.nCopies(60, List.of("step a", "step b")));

        for (int kill = 1; kill <= 3; kill++) {
            var dispatcher = dispatcher(endpoint);
            int enough = kill * 20;
            await().atMost(PATIENCE)
                    .until(() -> endpoint.report().linesOf("204").size() >= enough);
            dispatcher.kill();
        }
        dispatcher(endpoint);
        runs.forEach(run -> run.await(PATIENCE));
        await().atMost(PATIENCE.multipliedBy(2))
                .until(() -> steadwork.outbox().stats().waiting() == 0);

        assertThat(runs)
                .allSatisfy(run -> assertThat(taken(endpoint, run)).containsExactly("created", "started", "succeeded"));
        assertThat(endpoint.report().linesOf("204"))
                .allSatisfy(line -> assertThat(line).endsWith("signed"));
        assertThat(steadwork.outbox().stats().dead()).isZero();
    }

    private WorkerProcess dispatcher(WorkerProcess endpoint) {
        var dispatcher = WorkerProcess.start(
                TestDispatcherMain.class, url, Duration.ofSeconds(1).toString(), url(endpoint, "/events"), SECRET);
        processes.add(dispatcher);
        return dispatcher;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ftp://example.com/x",
                "example.com",
                "http:///x",
                "http://[::1",
                "file:///etc/passwd",
                "http://user:pass@example.com/",
                "http://169.254.169.254/latest",
                "https://[fe80::1]/x",
                "http://[::ffff:169.254.1.1]/x",
                "http://2852039166/x",
                "http://0.0.0.0/x",
                ""
            })
    @Proves("DATA-6")
    void a_bad_endpoint_is_refused(String endpoint) {
        assertRefused(INVALID_ARGUMENT, () -> Webhook.to(endpoint, SECRET), "webhook");
    }

    @Test
    @Proves("DATA-6")
    void the_secret_is_checked_and_never_shown() {
        assertRefused(INVALID_ARGUMENT, () -> Webhook.to("http://localhost/x", "short"), "16");
        assertRefused(INVALID_ARGUMENT, () -> Webhook.to("http://localhost/x", null), "secret");
        var webhook = Webhook.to("http://localhost:1/hidden-path", SECRET);
        assertRefused(INVALID_ARGUMENT, () -> webhook.timeout(Duration.ofMinutes(5)), "30 s");
        assertRefused(INVALID_ARGUMENT, () -> webhook.circuit(0, Duration.ofSeconds(1)), "circuit");

        assertThat(Stream.of(webhook, new dev.steadwork.maintain.WebhookPublisher(webhook)))
                .extracting(Object::toString)
                .allSatisfy(text -> assertThat(text)
                        .contains("localhost")
                        .doesNotContain(SECRET)
                        .doesNotContain("hidden-path"));
    }
}
