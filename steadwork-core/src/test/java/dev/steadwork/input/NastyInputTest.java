package dev.steadwork.input;

import static dev.steadwork.TriggerCheck.ACCEPT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.steadwork.InvalidArgument;
import dev.steadwork.NotFound;
import dev.steadwork.Payload;
import dev.steadwork.PermanentFailure;
import dev.steadwork.QueueLimit;
import dev.steadwork.RunFailedException;
import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunQuery;
import dev.steadwork.Schedules;
import dev.steadwork.StepInfo;
import dev.steadwork.Webhook;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowTrigger;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The corpus of nasty texts in every place that takes text: a clear refusal, or what was given comes back. */
@Proves({"DATA-1", "STORE-3"})
class NastyInputTest extends EngineTest {
    private static final Workflow<String, String> WORK = Workflow.define("work", String.class, String.class);
    private static final String SECRET = "a secret that signs";

    @Test
    void what_a_trigger_is_given_is_refused_or_comes_back() {
        for (var nasty : Nasty.values()) {
            var text = nasty.text();
            if (nasty.isName()) {
                var info = steadwork
                        .workflow(text)
                        .check(ACCEPT)
                        .queue(text)
                        .concurrencyKey(text)
                        .externalId(text)
                        .idempotencyKey(text)
                        .version(text)
                        .tag(text, text)
                        .trigger(null)
                        .info();
                assertThat(List.of(
                                info.type(),
                                info.queue(),
                                info.concurrencyKey(),
                                info.externalId(),
                                info.idempotencyKey(),
                                info.version()))
                        .as(nasty.name())
                        .containsOnly(text);
                assertThat(info.tags()).as(nasty.name()).isEqualTo(Map.of(text, text));
            } else {
                var trigger = steadwork.workflow("work").check(ACCEPT);
                List<Function<String, WorkflowTrigger<?, ?>>> places = List.of(
                        steadwork::workflow,
                        trigger::queue,
                        trigger::concurrencyKey,
                        trigger::externalId,
                        trigger::idempotencyKey,
                        trigger::version,
                        name -> trigger.tag(name, "value"));
                assertThat(places)
                        .allSatisfy(place -> refused(
                                nasty, () -> place.apply(text).check(ACCEPT).trigger(null)));
            }
        }
        assertThat(steadwork.runs().count()).isEqualTo(names().count());
    }

    @Test
    void a_filter_finds_exactly_what_has_that_text() {
        names().forEach(nasty -> steadwork
                .workflow(nasty.text())
                .check(ACCEPT)
                .queue(nasty.text())
                .externalId(nasty.text())
                .tag(nasty.text(), nasty.text())
                .trigger(null));

        for (var nasty : Nasty.values()) {
            List<Function<String, RunQuery>> filters = List.of(
                    steadwork.runs()::type,
                    steadwork.runs()::queue,
                    steadwork.runs()::externalId,
                    text -> steadwork.runs().tag(text, text));
            for (var filter : filters) {
                if (nasty.isName()) {
                    assertThat(filter.apply(nasty.text()).page(10).items())
                            .as(nasty.name())
                            .extracting(RunInfo::type)
                            .containsExactly(nasty.text());
                } else {
                    refused(nasty, () -> filter.apply(nasty.text()).count());
                }
            }
        }
    }

    @Test
    void a_step_and_a_signal_are_refused_or_keep_their_name_and_value() {
        work(WORK, (ctx, name) -> {
            var value = ctx.step(name, String.class, step -> name);
            return value + ctx.awaitEvent(name, String.class, PATIENCE);
        });
        var runs = new EnumMap<Nasty, RunHandle<String>>(Nasty.class);
        for (var nasty : Nasty.values()) {
            runs.put(nasty, steadwork.workflow(WORK).trigger(nasty.text()));
        }

        runs.forEach((nasty, run) -> {
            if (nasty.isName()) {
                run.signal(nasty.text(), nasty.text());
            } else {
                refused(nasty, () -> run.signal(nasty.text(), "x"));
            }
        });

        runs.forEach((nasty, run) -> {
            if (nasty.isName()) {
                assertThat(run.await(PATIENCE)).as(nasty.name()).isEqualTo(nasty.text() + nasty.text());
                assertThat(run.steps())
                        .as(nasty.name())
                        .extracting(StepInfo::name)
                        .contains(nasty.text());
                assertThat(run.fork(nasty.text()).info().type()).isEqualTo("work");
            } else {
                var failure = (RunFailedException) catchThrowable(() -> run.await(PATIENCE));
                assertThat(failure.error().type()).as(nasty.name()).isEqualTo(InvalidArgument.class.getName());
                assertThat(failure.error().message()).contains("step name");
                assertThat(catchThrowable(() -> run.fork(nasty.text())))
                        .as(nasty.name())
                        .isInstanceOf(NotFound.class);
            }
        });
    }

    @Test
    void a_text_as_input_and_result_comes_back() {
        work(WORK, (ctx, input) -> input);

        for (var nasty : Nasty.values()) {
            var run = steadwork.workflow(WORK).trigger(nasty.text());
            assertThat(run.await(PATIENCE)).as(nasty.name()).isEqualTo(nasty.text());
        }
    }

    @Test
    void bytes_come_back_whatever_they_claim_to_be() {
        for (var nasty : Nasty.values()) {
            var bytes = nasty.text().getBytes(UTF_8);
            var run = steadwork.workflow("work").check(ACCEPT).triggerBytes(bytes, Payload.JSON);
            assertThat(run.input()).as(nasty.name()).isEqualTo(new Payload(bytes, Payload.JSON));

            if (nasty.isName()) {
                var typed = steadwork.workflow("work").check(ACCEPT).triggerBytes(bytes, nasty.text());
                assertThat(typed.input()).as(nasty.name()).isEqualTo(new Payload(bytes, nasty.text()));
            } else {
                refused(nasty, () -> steadwork.workflow("work").check(ACCEPT).triggerBytes(bytes, nasty.text()));
            }
        }
    }

    @Test
    void the_message_of_a_failure_is_kept_and_found() {
        work(WORK, (ctx, number) -> {
            throw new PermanentFailure(Nasty.valueOf(number).text());
        });

        for (var nasty : Nasty.values()) {
            var run = steadwork.workflow(WORK).trigger(nasty.name());
            assertThat(catchThrowable(() -> run.await(PATIENCE)))
                    .as(nasty.name())
                    .isInstanceOf(RunFailedException.class);
            assertThat(run.info().error().message()).as(nasty.name()).isEqualTo(nasty.asKeptOfAnError());
            if (nasty.isName()) {
                assertThat(steadwork.runs().errorContains(nasty.text()).count())
                        .as(nasty.name())
                        .isEqualTo(failuresWith(nasty));
            } else {
                refused(nasty, () -> steadwork.runs().errorContains(nasty.text()));
            }
        }
    }

    /** Those up to this one whose type and message contain its text; upper and lower case ASCII letters are the same. */
    private static long failuresWith(Nasty nasty) {
        return Stream.of(Nasty.values())
                .limit(nasty.ordinal() + 1L)
                .filter(other -> lower(PermanentFailure.class.getName() + " " + other.asKeptOfAnError())
                        .contains(lower(nasty.text())))
                .count();
    }

    private static String lower(String text) {
        var lower = new StringBuilder();
        text.chars().forEach(c -> lower.append((char) (c >= 'A' && c <= 'Z' ? c + 32 : c)));
        return lower.toString();
    }

    @Test
    void a_schedule_is_refused_or_keeps_its_texts() {
        for (var nasty : Nasty.values()) {
            var text = nasty.text();
            if (nasty.isName() && text.length() <= Schedules.MAX_ID_LENGTH) {
                steadwork
                        .schedules()
                        .create(
                                text,
                                spec -> spec.workflow(text)
                                        .check(ACCEPT)
                                        .cron("0 3 * * *")
                                        .queue(text)
                                        .version(text)
                                        .tag(text, text)
                                        .input(text));
                var kept = steadwork.schedules().get(text);
                assertThat(List.of(
                                kept.id(),
                                kept.workflow(),
                                kept.target().queue(),
                                kept.target().version()))
                        .as(nasty.name())
                        .containsOnly(text);
                assertThat(kept.target().tags()).isEqualTo(Map.of(text, text));
            } else {
                refused(
                        nasty,
                        () -> steadwork
                                .schedules()
                                .create(
                                        text,
                                        spec -> spec.workflow("work")
                                                .check(ACCEPT)
                                                .cron("0 3 * * *")));
                refused(nasty, () -> steadwork.schedules().get(text));
            }
            refused(
                    nasty,
                    () -> steadwork
                            .schedules()
                            .create(
                                    "bad",
                                    spec -> spec.workflow("work").check(ACCEPT).cron(text)));
            if (nasty != Nasty.MINUS_ZERO) { // the offset of UTC
                refused(nasty, () -> steadwork.schedules().preview("0 3 * * *", text, 1));
            }
        }
        assertThat(steadwork.schedules().list())
                .hasSize((int) names().filter(n -> n.text().length() <= Schedules.MAX_ID_LENGTH)
                        .count());
    }

    @Test
    void a_namespace_and_a_limited_queue_are_refused_or_keep_their_name() {
        for (var nasty : Nasty.values()) {
            var text = nasty.text();
            if (nasty.isName()) {
                var queues = steadwork.queues();
                queues.limit(text, QueueLimit.concurrency(3));
                assertThat(queues.limits()).as(nasty.name()).containsOnlyKeys(text);
                queues.unlimited(text);
                assertThat(steadwork.namespaces().describe(text).name()).isEqualTo(text);
                if (nasty != Nasty.THE_WORD_DEFAULT) {
                    assertThat(steadwork
                                    .namespaces()
                                    .create(text, spec -> spec.audit(false))
                                    .name())
                            .isEqualTo(text);
                }
            } else {
                refused(nasty, () -> steadwork.queues().limit(text, QueueLimit.concurrency(3)));
                refused(nasty, () -> steadwork.namespaces().create(text, spec -> spec.audit(false)));
            }
        }
    }

    @Test
    void a_worker_is_refused_or_keeps_its_texts_and_is_found_by_them() {
        for (var nasty : Nasty.values()) {
            var text = nasty.text();
            if (nasty.isName()) {
                var worker = steadwork
                        .worker()
                        .name(text)
                        .queue(text)
                        .version(text)
                        .label(text, text)
                        .handle(Workflow.define(text, String.class, String.class), (ctx, input) -> input)
                        .start();
                var found = steadwork.workers().queue(text).label(text, text).list();
                worker.close();
                assertThat(found).as(nasty.name()).hasSize(1).allSatisfy(info -> {
                    assertThat(info.name()).isEqualTo(text);
                    assertThat(info.types()).containsExactly(text);
                });
            } else {
                List<Consumer<String>> places = List.of(
                        name -> steadwork.worker().name(name),
                        name -> steadwork.worker().queue(name),
                        name -> steadwork.worker().typePrefix(name),
                        name -> steadwork.worker().version(name),
                        name -> steadwork.worker().label(name, "x"),
                        name -> steadwork.workers().queue(name),
                        name -> steadwork.workers().label(name, "x"),
                        name -> steadwork.workers().drain(name));
                assertThat(places).allSatisfy(place -> refused(nasty, () -> place.accept(text)));
            }
        }
    }

    @Test
    void an_operator_who_gives_a_nasty_reason_is_refused_or_quoted() {
        steadwork.namespaces().create("default", spec -> spec.audit(true));
        for (var nasty : Nasty.values()) {
            var run = steadwork.workflow("work").check(ACCEPT).trigger(null);
            if (nasty.isName()) {
                run.by(nasty.text(), nasty.text()).terminate(nasty.text());
                assertThat(run.info().error().message()).as(nasty.name()).isEqualTo(nasty.text());
                assertThat(run.events())
                        .anySatisfy(event -> assertThat(event.toString()).contains(nasty.text()));
                run.delete(nasty.text());
                assertThat(run.info().deletedReason()).isEqualTo(nasty.text());
            } else {
                refused(nasty, () -> run.by(nasty.text(), null).cancel());
                refused(nasty, () -> run.terminate(nasty.text()));
                refused(nasty, () -> run.delete(nasty.text()));
                assertThat(run.info().times().finished()).isNull();
            }
        }
    }

    @Test
    void a_run_id_and_the_address_of_a_webhook_are_refused() {
        for (var nasty : Nasty.values()) {
            refused(nasty, () -> Webhook.to(nasty.text(), SECRET));
            if (nasty == Nasty.A_UUID) {
                assertThat(catchThrowable(
                                () -> steadwork.run(RunId.parse(nasty.text())).status()))
                        .isInstanceOf(NotFound.class);
            } else {
                refused(nasty, () -> RunId.parse(nasty.text()));
            }
        }
    }

    @Test
    void the_first_and_last_times_and_the_longest_waits_are_kept() {
        var last = Instant.parse("9999-12-31T23:59:59Z");
        var work = steadwork.workflow("work").check(ACCEPT);

        assertThat(work.startAt(last).trigger(null).info().times().due()).isEqualTo(last);
        assertThat(work.deadline(last).trigger(null).info().times().deadline()).isEqualTo(last);
        assertThat(work.startAt(Instant.EPOCH).trigger(null).info().status()).isNotNull();
        assertThat(work.delay(Duration.ofDays(36_500))
                        .trigger(null)
                        .info()
                        .times()
                        .due())
                .isAfter(Instant.parse("2120-01-01T00:00:00Z"));
        assertThat(work.deadline(Duration.ofNanos(1))
                        .trigger(null)
                        .info()
                        .times()
                        .deadline())
                .isNotNull();
        assertThat(steadwork
                        .runs()
                        .createdAfter(Instant.EPOCH)
                        .createdBefore(last)
                        .count())
                .isEqualTo(5);
        assertThat(steadwork.runs().createdAfter(last).count()).isZero();
        assertThat(steadwork.runs().createdBefore(Instant.EPOCH).count()).isZero();
    }

    private static Stream<Nasty> names() {
        return Stream.of(Nasty.values()).filter(Nasty::isName);
    }

    private static void refused(Nasty nasty, ThrowingCallable call) {
        assertThat(catchThrowable(call))
                .as(nasty.name())
                .isInstanceOf(InvalidArgument.class)
                .satisfies(refusal -> assertThat(refusal.getMessage()).hasSizeBetween(10, 600));
    }
}
