package dev.steadwork;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Says what a worker serves; {@link #start()} starts it. Not safe for use by several threads. */
public final class WorkerBuilder {
    private static final int DEFAULT_CONCURRENCY = 100;
    private static final AtomicInteger unnamed = new AtomicInteger();
    private static final Duration DEFAULT_DRAIN_TIMEOUT = Duration.ofSeconds(30);

    private final Function<Spec, Worker> starter;
    private final Map<String, Handling<?, ?>> handlers = new LinkedHashMap<>();
    private final Map<String, Integer> limits = new HashMap<>();
    private final Set<String> queues = new LinkedHashSet<>();
    private final Set<String> typePrefixes = new LinkedHashSet<>();
    private final Set<String> versions = new LinkedHashSet<>();
    private final Map<String, String> labels = new LinkedHashMap<>();
    private @Nullable String buildVersion;
    private @Nullable String name;
    private int concurrency = DEFAULT_CONCURRENCY;
    private Duration drainTimeout = DEFAULT_DRAIN_TIMEOUT;

    /** A workflow and the code for it. */
    public record Handling<I, O>(Workflow<I, O> workflow, WorkflowHandler<I, O> handler) {}

    /**
     * What a worker was asked to serve.
     *
     * @param name tells several workers of one process apart
     * @param handlers by workflow name
     * @param queues the queues to read; empty means: those of the workflows
     * @param typePrefixes claim every type that begins with one of these; empty means: exactly the handled types
     * @param versions the versions to claim; empty means: all
     * @param limits how many runs of a type at once
     * @param buildVersion the version of the program, if it was told
     * @param labels what else is known of the worker
     */
    public record Spec(
            String name,
            Map<String, Handling<?, ?>> handlers,
            Set<String> queues,
            Set<String> typePrefixes,
            Set<String> versions,
            int concurrency,
            Map<String, Integer> limits,
            Duration drainTimeout,
            @Nullable String buildVersion,
            Map<String, String> labels) {

        Spec serving(Map<String, Handling<?, ?>> these, Set<String> fromQueues, Set<String> withPrefixes) {
            return new Spec(
                    name,
                    these,
                    fromQueues,
                    withPrefixes,
                    versions,
                    concurrency,
                    limits,
                    drainTimeout,
                    buildVersion,
                    labels);
        }
    }

    WorkerBuilder(Function<Spec, Worker> starter) {
        this.starter = starter;
    }

    /** A name that tells several workers of one process apart. Default: {@code worker-1} and so on. */
    public WorkerBuilder name(String workerName) {
        this.name = Check.name("worker name", workerName);
        return this;
    }

    /** Reads this queue; may be called for several. Default: the queues of the handled workflows. */
    public WorkerBuilder queue(String queue) {
        queues.add(Check.name("queue", queue));
        return this;
    }

    /**
     * Claims every run whose type begins with this prefix. One without a handler fails at once with
     * {@code no_handler_registered}. Without prefixes the worker claims exactly the types it handles.
     */
    public WorkerBuilder typePrefix(String prefix) {
        typePrefixes.add(Check.name("type prefix", prefix));
        return this;
    }

    /** Claims only runs of this version; may be called for several. Default: any version. */
    public WorkerBuilder version(String version) {
        versions.add(Check.name("version", version));
        return this;
    }

    /** The version of your program, for people who look at {@link Steadwork#workers()}; it decides nothing. */
    public WorkerBuilder buildVersion(String version) {
        this.buildVersion = Check.name("build version", version);
        return this;
    }

    /** Says something of the worker that {@link Steadwork#workers()} can be filtered by, such as its zone. */
    public WorkerBuilder label(String key, String value) {
        labels.put(Check.name("label key", key), Check.text("value of label " + key, value));
        return this;
    }

    /** Executes runs of this workflow with this code. */
    public <I, O> WorkerBuilder handle(Workflow<I, O> workflow, WorkflowHandler<I, O> handler) {
        Check.notNull("workflow", workflow);
        Check.notNull("handler of workflow " + workflow.name(), handler);
        if (handlers.putIfAbsent(workflow.name(), new Handling<>(workflow, handler)) != null) {
            throw new Conflict(
                    "Workflow %s already has a handler in this worker; a worker has one handler per workflow."
                            .formatted(workflow.name()));
        }
        return this;
    }

    /** How many runs this worker executes at once. Default 100; runs that sleep or wait do not count. */
    public WorkerBuilder concurrency(int runs) {
        this.concurrency = Check.positive("concurrency", runs);
        return this;
    }

    /** How many runs of this workflow the worker executes at once, within its overall limit. */
    public WorkerBuilder concurrency(Workflow<?, ?> workflow, int runs) {
        limits.put(Check.notNull("workflow", workflow).name(), Check.positive("concurrency", runs));
        return this;
    }

    /** How long {@link Worker#close()} waits for running steps. Default 30 s. */
    public WorkerBuilder drainTimeout(Duration timeout) {
        this.drainTimeout = Check.notNegative("drain timeout", timeout);
        return this;
    }

    /**
     * Registers the workflows and starts to claim. The environment variables {@code STEADWORK_WORKER_QUEUES} and {@code
     * STEADWORK_WORKER_TYPE_PREFIXES} (names with commas between) narrow what it claims: see docs/configuration.md.
     */
    public Worker start() {
        if (handlers.isEmpty()) {
            throw new InvalidArgument(
                    "A worker needs at least one handler: worker().handle(WORKFLOW, handler).start().");
        }
        for (var limited : limits.keySet()) {
            if (!handlers.containsKey(limited)) {
                throw new InvalidArgument(
                        "concurrency(%s, ...) names a workflow without a handler.".formatted(limited));
            }
        }
        if (!limits.isEmpty() && !typePrefixes.isEmpty()) {
            throw new InvalidArgument(
                    "concurrency(workflow, n) and typePrefix(...) do not go together: a claim by prefix takes any type. Start two workers.");
        }
        var spec = new Spec(
                name == null ? "worker-" + unnamed.incrementAndGet() : name,
                Map.copyOf(handlers),
                Set.copyOf(queues),
                Set.copyOf(typePrefixes),
                Set.copyOf(versions),
                concurrency,
                Map.copyOf(limits),
                drainTimeout,
                buildVersion,
                Map.copyOf(labels));
        return starter.apply(WorkerRole.of(System::getenv).narrow(spec));
    }
}
