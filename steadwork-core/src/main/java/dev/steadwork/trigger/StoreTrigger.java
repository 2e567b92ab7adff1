package dev.steadwork.trigger;

import dev.steadwork.Check;
import dev.steadwork.Conflict;
import dev.steadwork.KeyPolicy;
import dev.steadwork.Payload;
import dev.steadwork.PreconditionFailed;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunHandle;
import dev.steadwork.SteadworkException;
import dev.steadwork.Trigger;
import dev.steadwork.TriggerCheck;
import dev.steadwork.TriggerOptions;
import dev.steadwork.TypeRef;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowTrigger;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.RunIds;
import dev.steadwork.store.TriggerResult;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Turns what a caller asks for into new runs, and the store's answers into handles or errors. */
public final class StoreTrigger<I, O> extends WorkflowTrigger<I, O> {
    private final Engine engine;
    private final String type;
    private final TypeRef<O> outputType;
    private final Workflow.@Nullable Options defaults;
    private @Nullable Connection connection;

    public static <I, O> StoreTrigger<I, O> of(Engine engine, Workflow<I, O> workflow) {
        return new StoreTrigger<>(engine, workflow.name(), workflow.outputType(), workflow.options());
    }

    public static StoreTrigger<Object, Object> untyped(Engine engine, String type) {
        return new StoreTrigger<>(engine, Check.name("workflow name", type), TypeRef.of(Object.class), null);
    }

    private StoreTrigger(Engine engine, String type, TypeRef<O> outputType, Workflow.@Nullable Options defaults) {
        this.engine = engine;
        this.type = type;
        this.outputType = outputType;
        this.defaults = defaults;
    }

    @Override
    public RunHandle<O> trigger(@Nullable I input) {
        return triggerOne(newRun(this, engine.payloads().encode(() -> "Input of workflow " + type, input)));
    }

    @Override
    public RunHandle<O> triggerBytes(byte[] input, String contentType) {
        var payload = new Payload(Check.notNull("input", input), Check.name("content type", contentType));
        return triggerOne(newRun(this, engine.payloads().checked("Input of workflow " + type, payload)));
    }

    private RunHandle<O> triggerOne(NewRun run) {
        engine.checkOpen();
        var result = connection != null
                ? engine.store().triggerIn(connection, List.of(run)).get(0)
                : triggerGrouped(run);
        if (!result.accepted()) {
            throw refusal(run, result, "");
        }
        return handle(result);
    }

    /** A worker of this process that has nothing better to do executes the run from its creation on. */
    private TriggerResult triggerGrouped(NewRun run) {
        try (var opening = engine.openings().apply(run)) {
            var starter = opening == null ? null : opening.starter();
            var result = engine.committer().trigger(run, starter).join();
            if (opening != null && result.started() != null) {
                opening.start(result.started());
            }
            return result;
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof SteadworkException known ? known : failed;
        }
    }

    @Override
    public List<RunHandle<O>> triggerAll(Collection<I> inputs) {
        var runs = new ArrayList<NewRun>();
        for (var input : Check.notNull("inputs", inputs)) {
            runs.add(item(runs.size(), this, input));
        }
        return triggerBatch(runs);
    }

    @Override
    public List<RunHandle<O>> triggerAll(List<Trigger<I>> triggers) {
        var runs = new ArrayList<NewRun>();
        for (var trigger : Check.noNulls("triggers", triggers)) {
            runs.add(item(runs.size(), trigger, trigger.input()));
        }
        return triggerBatch(runs);
    }

    private NewRun item(int index, TriggerOptions<?> options, @Nullable I input) {
        return newRun(
                options,
                engine.payloads().encode(() -> "Input of item %d of workflow %s".formatted(index, type), input));
    }

    private List<RunHandle<O>> triggerBatch(List<NewRun> runs) {
        engine.checkOpen();
        if (runs.isEmpty()) {
            return List.of();
        }
        var results = connection != null
                ? engine.store().triggerIn(connection, runs)
                : engine.store().triggerAll(runs);
        for (int i = 0; i < results.size(); i++) {
            if (!results.get(i).accepted()) {
                throw refusal(runs.get(i), results.get(i), "Item %d: ".formatted(i));
            }
        }
        return results.stream().map(this::handle).toList();
    }

    @Override
    public WorkflowTrigger<I, O> in(Connection caller) {
        try {
            var copy = (StoreTrigger<I, O>) clone();
            copy.connection = Check.notNull("connection", caller);
            return copy;
        } catch (CloneNotSupportedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private NewRun newRun(TriggerOptions<?> options, Payload input) {
        var startAt = options.startAt();
        var key = options.idempotencyKey();
        return new NewRun(
                RunIds.next(engine.namespace(), key),
                engine.namespace(),
                type,
                queue(options),
                options.concurrencyKey(),
                input,
                options.priority(),
                startAt == null ? new NewRun.Moment(null, options.delay()) : new NewRun.Moment(startAt, null),
                deadline(options),
                retry(options),
                options.version(),
                options.externalId(),
                key,
                keyPolicy(options),
                check(options),
                options.tags(),
                null);
    }

    private @Nullable String queue(TriggerOptions<?> options) {
        var chosen = options.queue();
        return chosen == null && defaults != null ? defaults.queue() : chosen;
    }

    private NewRun.Moment deadline(TriggerOptions<?> options) {
        if (options.deadline() != null || options.deadlineAfter() != null) {
            return new NewRun.Moment(options.deadline(), options.deadlineAfter());
        }
        return defaults == null || defaults.timeout() == null
                ? NewRun.Moment.NONE
                : timeoutFrom(options, defaults.timeout());
    }

    private static NewRun.Moment timeoutFrom(TriggerOptions<?> options, Duration timeout) {
        var startAt = options.startAt();
        if (startAt != null) {
            return new NewRun.Moment(startAt.plus(timeout), null);
        }
        var delay = options.delay();
        return new NewRun.Moment(null, delay == null ? timeout : delay.plus(timeout));
    }

    private @Nullable RetryPolicy retry(TriggerOptions<?> options) {
        var chosen = options.retry();
        return chosen == null && defaults != null ? defaults.chosenRetry() : chosen;
    }

    private @Nullable KeyPolicy keyPolicy(TriggerOptions<?> options) {
        var chosen = options.keyPolicy();
        return chosen == null && defaults != null ? defaults.keyPolicy() : chosen;
    }

    private TriggerCheck check(TriggerOptions<?> options) {
        var chosen = options.check();
        if (chosen != null) {
            return chosen;
        }
        return defaults == null ? TriggerCheck.REQUIRE_REGISTERED : defaults.check();
    }

    private RunHandle<O> handle(TriggerResult result) {
        return new StoredRun<>(engine, result.id(), outputType, result.outcome() == TriggerResult.Outcome.EXISTED);
    }

    private SteadworkException refusal(NewRun run, TriggerResult result, String prefix) {
        return switch (result.outcome()) {
            case UNKNOWN_TYPE ->
                new PreconditionFailed(
                        "%sWorkflow %s is not registered in namespace %s. Start a worker that handles it, call steadwork.register(...), or trigger with check(TriggerCheck.ACCEPT)."
                                .formatted(prefix, type, run.namespace()));
            case NO_WORKER_ONLINE ->
                new PreconditionFailed(
                        "%sNo worker for workflow %s is online in namespace %s. Start one, or trigger with check(TriggerCheck.REQUIRE_REGISTERED)."
                                .formatted(prefix, type, run.namespace()));
            case KEY_OF_OTHER_TYPE ->
                new Conflict("%sIdempotency key '%s' belongs to run %s of workflow %s, not %s. Use another key."
                        .formatted(prefix, run.idempotencyKey(), result.id(), result.holderType(), type));
            case NAMESPACE_DISABLED ->
                new PreconditionFailed(
                        "%sNamespace %s is disabled and takes no triggers; workflow %s was not triggered. Enable it with steadwork.namespaces().enable(\"%s\"), then trigger again."
                                .formatted(prefix, run.namespace(), type, run.namespace()));
            case CREATED, EXISTED -> throw new AssertionError(result);
        };
    }
}
