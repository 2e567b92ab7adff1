package dev.steadwork.behaviour;

import static dev.steadwork.ErrorCode.INVALID_ARGUMENT;
import static dev.steadwork.behaviour.Refusal.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.steadwork.Payload;
import dev.steadwork.QueueLimit;
import dev.steadwork.RetryAfter;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunId;
import dev.steadwork.Steadwork;
import dev.steadwork.StepOptions;
import dev.steadwork.Trigger;
import dev.steadwork.TypeRef;
import dev.steadwork.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Values that can never work are refused where they are given, before any database is asked. */
class BadValueTest {
    private static final Duration NEGATIVE = Duration.ofMillis(-1);

    private static final Map<String, Consumer<String>> NAMES = Map.ofEntries(
            Map.entry("workflow name", name -> Workflow.define(name, String.class, String.class)),
            Map.entry("queue", name -> workflow().onQueue(name)),
            Map.entry("queue ", name -> Trigger.of("x").queue(name)),
            Map.entry("idempotencyKey", name -> Trigger.of("x").idempotencyKey(name)),
            Map.entry("concurrencyKey", name -> Trigger.of("x").concurrencyKey(name)),
            Map.entry("externalId", name -> Trigger.of("x").externalId(name)),
            Map.entry("version", name -> Trigger.of("x").version(name)),
            Map.entry("tag key", name -> Trigger.of("x").tag(name, "value")),
            Map.entry("namespace", name -> Steadwork.builder().namespace(name)),
            Map.entry("schema", name -> Steadwork.builder().schema(name)));

    @SuppressWarnings("unused") // by the parameterized tests
    private static final Set<String> PLACES = NAMES.keySet();

    @ParameterizedTest
    @FieldSource("PLACES")
    void an_empty_name_is_refused(String place) {
        refused(place, "", "empty");
        refused(place, "   ", "blank");
        refused(place, null, "null");
    }

    @ParameterizedTest
    @FieldSource("PLACES")
    void a_name_of_more_than_255_characters_is_refused(String place) {
        refused(place, "n".repeat(256), "256 characters", "at most 255");
        accepted(place, "n".repeat(255));
    }

    @ParameterizedTest
    @FieldSource("PLACES")
    void a_control_character_in_a_name_is_refused_and_shown(String place) {
        refused(place, "a\nb", "U+000A", "index 1");
        refused(place, "a\u0000", "U+0000", "index 1");
        refused(place, "\u007f", "U+007F", "index 0");
        refused(place, "ab\u0085", "U+0085", "index 2");
    }

    @ParameterizedTest
    @FieldSource("PLACES")
    void half_of_a_surrogate_pair_in_a_name_is_refused_and_shown(String place) {
        refused(place, "a\ud83d", "surrogate", "U+D83D", "index 1");
        refused(place, "\ude00b", "surrogate", "U+DE00", "index 0");
        refused(place, "\ude00\ud83d", "surrogate", "index 0");
    }

    @ParameterizedTest
    @FieldSource("PLACES")
    void any_other_text_is_a_name(String place) {
        for (var name : List.of("a", "A b", "größe", "\ud83d\ude00", "%_'\"\\;--", "名前")) {
            accepted(place, name);
        }
    }

    @Test
    void the_value_of_a_tag_may_be_empty_but_must_be_text() {
        assertThat(Trigger.of("x").tag("k", "").tags()).containsEntry("k", "");
        assertRefused(INVALID_ARGUMENT, () -> Trigger.of("x").tag("k", null), "value of tag k", "null");
        assertRefused(INVALID_ARGUMENT, () -> Trigger.of("x").tag("k", "\u0001"), "value of tag k", "U+0001");
        assertRefused(INVALID_ARGUMENT, () -> Trigger.of("x").tag("k", "v".repeat(256)), "value of tag k", "255");
    }

    @Test
    void negative_and_missing_times_of_a_trigger_are_refused() {
        assertRefused(INVALID_ARGUMENT, () -> Trigger.of("x").delay(NEGATIVE), "delay is PT-0.001S", "negative");
        assertRefused(INVALID_ARGUMENT, () -> Trigger.of("x").delay(null), "delay", "null");
        assertRefused(INVALID_ARGUMENT, () -> Trigger.of("x").startAt(null), "startAt", "null");
        assertRefused(INVALID_ARGUMENT, () -> Trigger.of("x").deadline(Duration.ZERO), "deadline", "more than zero");
        assertRefused(INVALID_ARGUMENT, () -> Trigger.of("x").deadline(NEGATIVE), "deadline is PT-0.001S");
    }

    @Test
    void a_duration_of_more_than_a_century_is_refused() {
        var endless = Duration.ofSeconds(Long.MAX_VALUE);
        List<Consumer<Duration>> places = List.of(
                d -> Trigger.of("x").delay(d),
                d -> Trigger.of("x").deadline(d),
                d -> workflow().timeout(d),
                d -> workflow().lease(d, Duration.ofSeconds(1)),
                d -> StepOptions.defaults().timeout(d),
                d -> RetryPolicy.defaults().withMaxInterval(d),
                d -> Steadwork.builder().pollInterval(d));

        assertThat(places).allSatisfy(place -> {
            assertRefused(INVALID_ARGUMENT, () -> place.accept(endless), endless.toString(), "at most 36500 days");
            assertRefused(
                    INVALID_ARGUMENT, () -> place.accept(Duration.ofDays(36_500).plusNanos(1)));
            assertThatCode(() -> place.accept(Duration.ofDays(36_500))).doesNotThrowAnyException();
        });
    }

    @Test
    void a_time_that_a_database_may_not_be_able_to_keep_is_refused() {
        List<Consumer<Instant>> places =
                List.of(t -> Trigger.of("x").startAt(t), t -> Trigger.of("x").deadline(t));

        assertThat(places).allSatisfy(place -> {
            assertRefused(
                    INVALID_ARGUMENT, () -> place.accept(Instant.MAX), "allowed is 1970-01-01T00:00:00Z to 9999-12-31");
            assertRefused(INVALID_ARGUMENT, () -> place.accept(Instant.MIN), "allowed");
            assertThatCode(() -> place.accept(Instant.EPOCH)).doesNotThrowAnyException();
        });
    }

    @Test
    void missing_choices_of_a_trigger_are_refused() {
        assertRefused(INVALID_ARGUMENT, () -> Trigger.of("x").keyPolicy(null), "keyPolicy", "null");
        assertRefused(INVALID_ARGUMENT, () -> Trigger.of("x").check(null), "check", "null");
        assertRefused(INVALID_ARGUMENT, () -> Trigger.of("x").retry(null), "retry", "null");
    }

    @Test
    void a_workflow_is_refused_for_bad_options() {
        assertRefused(INVALID_ARGUMENT, () -> Workflow.define("w", (Class<String>) null, String.class), "type", "null");
        assertRefused(INVALID_ARGUMENT, () -> workflow().timeout(Duration.ZERO), "timeout", "more than zero");
        assertRefused(INVALID_ARGUMENT, () -> workflow().retry(null), "retry", "null");
        assertRefused(INVALID_ARGUMENT, () -> workflow().deadLetter(null), "dead-letter workflow", "null");
        assertRefused(
                INVALID_ARGUMENT,
                () -> workflow().lease(Duration.ofSeconds(10), Duration.ofSeconds(10)),
                "heartbeat is PT10S",
                "must be shorter");
    }

    @Test
    void a_retry_policy_is_refused_for_what_makes_no_sense() {
        var policy = RetryPolicy.defaults();

        assertRefused(
                INVALID_ARGUMENT, () -> policy.withMaxAttempts(0), "maxAttempts is 0", "1 for no retry", "negative");
        assertRefused(INVALID_ARGUMENT, () -> policy.withInitialInterval(NEGATIVE), "initialInterval", "negative");
        assertRefused(INVALID_ARGUMENT, () -> policy.withMaxInterval(NEGATIVE), "maxInterval", "negative");
        assertRefused(INVALID_ARGUMENT, () -> policy.withMaxInterval(null), "maxInterval", "null");
        for (double bad : List.of(0.99, -1.0, 1000.1, Double.NaN, Double.POSITIVE_INFINITY)) {
            assertRefused(
                    INVALID_ARGUMENT, () -> policy.withCoefficient(bad), "coefficient is " + bad, "1.0 to 1000.0");
        }
        for (double bad : List.of(-0.01, 0.51, Double.NaN)) {
            assertRefused(INVALID_ARGUMENT, () -> policy.withJitter(bad), "jitter is " + bad, "0.0 to 0.5");
        }
        assertRefused(
                INVALID_ARGUMENT,
                () -> policy.withNonRetryable((Class<? extends Throwable>) null),
                "non-retryable type");
        assertRefused(INVALID_ARGUMENT, () -> new RetryAfter(NEGATIVE, "busy"), "RetryAfter delay", "negative");
    }

    @Test
    void a_limit_is_refused_for_what_makes_no_sense() {
        var minute = Duration.ofMinutes(1);
        var some = QueueLimit.concurrency(1);

        assertRefused(INVALID_ARGUMENT, () -> QueueLimit.concurrency(0), "concurrency is 0", "at least 1");
        assertRefused(INVALID_ARGUMENT, () -> some.perKey(-1), "perKey is -1", "at least 1");
        assertRefused(INVALID_ARGUMENT, () -> some.rate(0, minute), "rate starts is 0", "at least 1");
        assertRefused(INVALID_ARGUMENT, () -> some.rate(1, Duration.ZERO), "rate period is PT0S", "more than zero");
        assertRefused(INVALID_ARGUMENT, () -> some.rate(1, Duration.ofNanos(1)), "rate period", "at least 1 ms");
        assertRefused(INVALID_ARGUMENT, () -> some.rate(1, Duration.ofDays(40_000)), "rate period", "36500 days");
        try (var steadwork = Steadwork.open("jdbc:sqlite::memory:")) {
            var queues = steadwork.queues();
            assertRefused(INVALID_ARGUMENT, () -> queues.limit("q", QueueLimit.none()), "queue q", "unlimited(...)");
            assertRefused(INVALID_ARGUMENT, () -> queues.limit("q", null), "limit", "null");
            assertRefused(INVALID_ARGUMENT, () -> queues.limit(" ", some), "queue", "blank");
            assertRefused(INVALID_ARGUMENT, () -> queues.unlimited(null), "queue", "null");
        }
    }

    @Test
    void step_options_are_refused_for_what_makes_no_sense() {
        assertRefused(INVALID_ARGUMENT, () -> StepOptions.defaults().timeout(Duration.ZERO), "step timeout");
        assertRefused(INVALID_ARGUMENT, () -> StepOptions.defaults().retry(null), "retry", "null");
    }

    @Test
    void settings_are_refused_for_what_makes_no_sense() {
        Map<String, ThrowingCallable> settings = Map.of(
                "lease", () -> Steadwork.builder().lease(Duration.ZERO),
                "heartbeat", () -> Steadwork.builder().heartbeat(NEGATIVE),
                "pollInterval", () -> Steadwork.builder().pollInterval(Duration.ZERO),
                "staleAfter", () -> Steadwork.builder().staleAfter(NEGATIVE),
                "crashBudget", () -> Steadwork.builder().crashBudget(-1),
                "poolSize", () -> Steadwork.builder().poolSize(0),
                "codec", () -> Steadwork.builder().codec(null),
                "url", () -> Steadwork.builder().url(null),
                "dataSource", () -> Steadwork.builder().dataSource(null));

        assertThat(settings).allSatisfy((name, call) -> assertRefused(INVALID_ARGUMENT, call, name));
    }

    @Test
    void settings_that_contradict_each_other_are_refused_when_opening() {
        var memory = "jdbc:sqlite::memory:";

        assertRefused(INVALID_ARGUMENT, () -> Steadwork.builder().open(), "either url(...) or dataSource(...)");
        assertRefused(
                INVALID_ARGUMENT,
                () -> Steadwork.builder()
                        .url(memory)
                        .lease(Duration.ofSeconds(1))
                        .heartbeat(Duration.ofSeconds(5))
                        .open(),
                "heartbeat is PT5S",
                "lease is PT1S");
        assertRefused(
                INVALID_ARGUMENT,
                () -> Steadwork.builder().url(memory).payloadLimits(0, 10).open(),
                "payloadLimits(0, 10)");
        assertRefused(
                INVALID_ARGUMENT,
                () -> Steadwork.builder().url(memory).payloadLimits(20, 10).open(),
                "payloadLimits(20, 10)");
    }

    @Test
    void text_that_is_not_a_run_id_is_refused() {
        for (var bad : List.of(
                "",
                "run-1",
                "0192f0c1-7b3e-7cc1-8f4e",
                "0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3z",
                "1-1-1-1-1",
                "019f0c1-7b3e-7cc1-8f4ee-2b1f6d0c9a3e")) {
            assertRefused(INVALID_ARGUMENT, () -> RunId.parse(bad), "'" + bad + "'", "not a run id", "UUID");
        }
        assertRefused(INVALID_ARGUMENT, () -> RunId.parse(null), "run id", "null");
        assertThat(Refusal.of(() -> RunId.parse("x".repeat(10_000))).getMessage())
                .hasSizeLessThan(300);
    }

    @Test
    void a_payload_needs_bytes_and_a_content_type() {
        assertRefused(INVALID_ARGUMENT, () -> new Payload(null, "text/plain"), "payload bytes", "null");
        assertRefused(INVALID_ARGUMENT, () -> new Payload(new byte[0], null), "content type", "null");
        assertRefused(INVALID_ARGUMENT, () -> new Payload(new byte[0], "a\nb"), "content type", "U+000A");
    }

    @Test
    @SuppressWarnings("rawtypes")
    void a_type_reference_needs_its_type_argument() {
        assertRefused(INVALID_ARGUMENT, () -> new TypeRef() {}, "type argument", "new TypeRef<List<Order>>() {}");
    }

    private static void refused(String place, String name, String... says) {
        var what = place.strip();
        assertRefused(INVALID_ARGUMENT, () -> NAMES.get(place).accept(name), says);
        assertThat(Refusal.of(() -> NAMES.get(place).accept(name))).hasMessageStartingWith(what);
    }

    private static void accepted(String place, String name) {
        assertThatCode(() -> NAMES.get(place).accept(name)).doesNotThrowAnyException();
    }

    private static Workflow<String, String> workflow() {
        return Workflow.define("w", String.class, String.class);
    }
}
