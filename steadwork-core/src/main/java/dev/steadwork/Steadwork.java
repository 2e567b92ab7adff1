package dev.steadwork;

import dev.steadwork.claim.RunningWorker;
import dev.steadwork.codec.JsonCodec;
import dev.steadwork.codec.Payloads;
import dev.steadwork.execute.DeadLetterRuns;
import dev.steadwork.execute.Opening;
import dev.steadwork.execute.Threads;
import dev.steadwork.maintain.Deadlines;
import dev.steadwork.maintain.Duties;
import dev.steadwork.maintain.Duty;
import dev.steadwork.maintain.Publishing;
import dev.steadwork.maintain.Retention;
import dev.steadwork.maintain.Scheduler;
import dev.steadwork.maintain.SilentWorkers;
import dev.steadwork.maintain.WebhookPublisher;
import dev.steadwork.store.Committer;
import dev.steadwork.store.Definition;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Observers;
import dev.steadwork.store.Store;
import dev.steadwork.store.jdbc.JdbcStores;
import dev.steadwork.store.jdbc.StoreConfig;
import dev.steadwork.trigger.Engine;
import dev.steadwork.trigger.Results;
import dev.steadwork.trigger.RunLists;
import dev.steadwork.trigger.StoreTrigger;
import dev.steadwork.trigger.StoredNamespaces;
import dev.steadwork.trigger.StoredOutbox;
import dev.steadwork.trigger.StoredQueues;
import dev.steadwork.trigger.StoredRun;
import dev.steadwork.trigger.StoredSchedules;
import dev.steadwork.trigger.StoredWorkers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Durable workflows on the database you already have. Open one per process and share it between threads.
 *
 * <pre>{@code
 * try (Steadwork steadwork = Steadwork.open("jdbc:sqlite:app.db")) {
 *     steadwork.worker().handle(CHECKOUT, this::checkout).start();
 *     Receipt receipt = steadwork.workflow(CHECKOUT).trigger(order).await(Duration.ofMinutes(1));
 * }
 * }</pre>
 */
public final class Steadwork implements AutoCloseable {
    private final Store store;
    private final Committer committer;
    /** A thread of the platform: were it a virtual one, runs that wait for an answer could hold all the threads that it needs. */
    private final ExecutorService answering =
            Executors.newSingleThreadExecutor(task -> Threads.daemon("steadwork-answers", task));

    private final Results results;
    private final Engine engine;
    private final Settings settings;
    private final Duties duties;
    private final Observers observers = new Observers();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final List<RunningWorker> workers = new CopyOnWriteArrayList<>();

    private record Settings(
            Workflow.Lease lease,
            Duration pollInterval,
            Duration staleAfter,
            int crashBudget,
            boolean maintain,
            @Nullable Publishing publishing) {
        /** Often enough to be told soon, and never so often that an idle process is heard of in the database. */
        Duration silenceInterval() {
            var half = staleAfter.dividedBy(2);
            return half.compareTo(pollInterval) < 0 ? pollInterval : half;
        }
    }

    private Steadwork(Store store, Payloads payloads, String namespace, Settings settings) {
        this.store = store;
        this.committer = new Committer(store, observers, answering);
        this.results = new Results(store, settings.pollInterval(), this::executes);
        this.engine = new Engine(store, committer, payloads, results, this::openingFor, namespace, closed);
        this.settings = settings;
        var deadlines = new Deadlines(store, namespace, new DeadLetterRuns(namespace, payloads));
        // Told of what is urgent, they need not look as often as workers do.
        var sideInterval = settings.pollInterval().multipliedBy(3);
        var scheduler = new Scheduler(store, namespace);
        var all = new ArrayList<Duty>();
        all.add(new Duty("deadlines", sideInterval, deadlines));
        all.add(new Duty(Scheduler.NAME, sideInterval, scheduler));
        all.add(new Duty("retention", Duration.ofMinutes(10), new Retention(store, namespace)));
        all.add(new Duty("silent-workers", settings.silenceInterval(), new SilentWorkers(store, namespace)));
        var publishing = settings.publishing();
        if (publishing != null) {
            all.addAll(publishing.duties(
                    store, namespace, settings.pollInterval(), settings.lease().duration()));
        }
        this.duties = new Duties(all);
        store.signals().subscribe(scheduler.listener(() -> duties.wake(Scheduler.NAME)));
        if (publishing != null) {
            store.signals().subscribe(publishing.waking(duties));
        }
    }

    /** Opens a database by its JDBC URL ({@code jdbc:sqlite:app.db}, {@code jdbc:postgresql://host/db}) with defaults. */
    public static Steadwork open(String url) {
        return builder().url(url).open();
    }

    /** Opens a database with settings of your own. */
    public static Builder builder() {
        return new Builder();
    }

    /** A workflow to be triggered. */
    public <I, O> WorkflowTrigger<I, O> workflow(Workflow<I, O> workflow) {
        return StoreTrigger.of(engine, Check.notNull("workflow", workflow));
    }

    /** A workflow to be triggered by its name alone; its queue and defaults are those it was registered with. */
    public WorkflowTrigger<Object, Object> workflow(String name) {
        return StoreTrigger.untyped(engine, name);
    }

    /** Any run by its id. The output is what the codec makes of it: maps, lists, text and numbers for JSON. */
    public RunHandle<Object> run(RunId id) {
        return new StoredRun<>(engine, Check.notNull("run id", id), TypeRef.of(Object.class), false);
    }

    /** A run of this workflow by its id. */
    public <O> RunHandle<O> run(RunId id, Workflow<?, O> workflow) {
        Check.notNull("workflow", workflow);
        return new StoredRun<>(engine, Check.notNull("run id", id), workflow.outputType(), false);
    }

    /** The runs of this namespace, to be narrowed by filters. */
    public RunQuery runs() {
        return new RunQuery(new RunLists(engine));
    }

    /** The queues of this namespace, and what all workers together may take from them. */
    public Queues queues() {
        return new Queues(new StoredQueues(engine));
    }

    /** Tenants and their settings; those of all namespaces of the database. */
    public Namespaces namespaces() {
        return new Namespaces(new StoredNamespaces(engine));
    }

    /** Runs of this namespace that its settings no longer keep. */
    public ExpiredRuns expired() {
        engine.checkOpen();
        return new ExpiredRuns(new Retention(store, engine.namespace()));
    }

    /** The workers of this namespace, in all processes. */
    public Workers workers() {
        return new Workers(new StoredWorkers(engine));
    }

    /** The schedules of this namespace: runs that start by the clock. */
    public Schedules schedules() {
        return new Schedules(new StoredSchedules(engine));
    }

    /**
     * Looks for what is wrong: with the database (long transactions, dead rows, a write-ahead log that grows), with this process
     * (clock, pool), and with queues that do not move, with the reason. Read-only; takes a second or so. A check that cannot be
     * made says so, and the others are made all the same.
     */
    public List<Finding> doctor() {
        return engine.store().examine(engine.namespace());
    }

    /** Events of this namespace on their way out. */
    public Outbox outbox() {
        return new Outbox(new StoredOutbox(engine));
    }

    /**
     * Lets an observer hear what happens in this process from now on; several may. For Micrometer there is {@code
     * dev.steadwork.metrics.SteadworkMetrics}.
     */
    public void observe(Observer observer) {
        observers.add(Check.notNull("observer", observer));
    }

    /** A worker to be started in this process. */
    public WorkerBuilder worker() {
        engine.checkOpen();
        return new WorkerBuilder(this::start);
    }

    private Worker start(WorkerBuilder.Spec spec) {
        engine.checkOpen();
        var surroundings = new RunningWorker.Surroundings(
                store,
                committer,
                engine.payloads(),
                engine.namespace(),
                settings.lease(),
                settings.pollInterval(),
                settings.crashBudget(),
                results::ending,
                observers);
        var worker = new RunningWorker(surroundings, spec).start();
        workers.add(worker);
        if (settings.maintain()) {
            duties.start();
            duties.wake(Scheduler.NAME);
        }
        return worker;
    }

    private boolean executes(RunId run) {
        return workers.stream().anyMatch(worker -> worker.executes(run));
    }

    private @Nullable Opening openingFor(NewRun run) {
        for (var worker : workers) {
            var opening = worker.openingFor(run);
            if (opening != null) {
                return opening;
            }
        }
        return null;
    }

    /** Records workflows so that they can be triggered before a worker for them has started. */
    public void register(Workflow<?, ?>... workflows) {
        var definitions = Arrays.stream(Check.notNull("workflows", workflows))
                .map(workflow -> Definition.of(Check.notNull("workflow", workflow)))
                .toList();
        engine.store().register(engine.namespace(), definitions);
    }

    /** Drains the workers of this instance, then closes what it opened. Idempotent. */
    @Override
    public void close() {
        workers.forEach(Worker::close);
        if (closed.compareAndSet(false, true)) {
            duties.stop();
            results.close();
            committer.close();
            answering.shutdown();
            store.close();
        }
    }

    /** The settings of a {@link Steadwork}; the defaults are right for most. Not safe for use by several threads. */
    public static final class Builder {
        private @Nullable String url;
        private @Nullable DataSource dataSource;
        private @Nullable String user;
        private @Nullable String password;
        private String schema = "steadwork";
        private String namespace = "default";
        private Duration lease = Duration.ofSeconds(30);
        private Duration heartbeat = Duration.ofSeconds(10);
        private Duration pollInterval = Duration.ofSeconds(5);
        private Duration staleAfter = Duration.ofSeconds(60);
        private Codec codec = new JsonCodec();
        private int warnBytes = Payloads.DEFAULT_WARN_BYTES;
        private int maxBytes = Payloads.DEFAULT_MAX_BYTES;
        private int crashBudget = 5;
        private int poolSize = 10;
        private boolean listen = true;
        private boolean migrate = true;
        private boolean maintain = true;
        private @Nullable Publishing publishing;
        private UnaryOperator<Store> through = UnaryOperator.identity();

        private Builder() {}

        /** Where the database is: a {@code jdbc:sqlite:} or {@code jdbc:postgresql:} URL. */
        public Builder url(String jdbcUrl) {
            this.url = Check.notNull("url", jdbcUrl);
            return this;
        }

        /** The application's own connections instead of a URL; they are used, not closed. */
        public Builder dataSource(DataSource source) {
            this.dataSource = Check.notNull("dataSource", source);
            return this;
        }

        public Builder user(String name) {
            this.user = Check.notNull("user", name);
            return this;
        }

        public Builder password(String secret) {
            this.password = Check.notNull("password", secret);
            return this;
        }

        /** The Postgres schema of the tables; on SQLite the prefix of their names. Default {@code steadwork}. */
        public Builder schema(String name) {
            this.schema = Check.name("schema", name);
            return this;
        }

        /** The tenant whose runs this instance sees. Default {@code default}. */
        public Builder namespace(String name) {
            this.namespace = Check.name("namespace", name);
            return this;
        }

        /**
         * How long a run stays with a worker that has fallen silent. Default 30 s. Shorter: a faster take-over after a
         * crash; but a worker that stops for longer than this (a long GC pause) loses its runs.
         */
        public Builder lease(Duration duration) {
            this.lease = Check.positive("lease", duration);
            return this;
        }

        /** How often a worker prolongs its leases. Default 10 s; a third of the lease is good. */
        public Builder heartbeat(Duration interval) {
            this.heartbeat = Check.positive("heartbeat", interval);
            return this;
        }

        /** How often an idle process looks by itself, in case a notification was lost. Default 5 s. */
        public Builder pollInterval(Duration interval) {
            this.pollInterval = Check.positive("pollInterval", interval);
            return this;
        }

        /** How long after its last heartbeat a worker no longer counts as online. Default 60 s. */
        public Builder staleAfter(Duration duration) {
            this.staleAfter = Check.positive("staleAfter", duration);
            return this;
        }

        /** How many workers a run may lose before it fails with {@code worker_lost}. Default 5. */
        public Builder crashBudget(int lostLeases) {
            if (lostLeases < 0) {
                throw new InvalidArgument("crashBudget is %d; it must not be negative.".formatted(lostLeases));
            }
            this.crashBudget = lostLeases;
            return this;
        }

        /** How values become bytes. Default JSON. */
        public Builder codec(Codec payloadCodec) {
            this.codec = Check.notNull("codec", payloadCodec);
            return this;
        }

        /** From which size a payload is warned of, and over which it is refused. Default 1 MiB and 2 MiB. */
        public Builder payloadLimits(int warnAtBytes, int refuseOverBytes) {
            this.warnBytes = warnAtBytes;
            this.maxBytes = refuseOverBytes;
            return this;
        }

        /** How many connections to open at most when a URL is given. Default 10. */
        public Builder poolSize(int connections) {
            this.poolSize = Check.positive("poolSize", connections);
            return this;
        }

        /** Whether to hear other processes by LISTEN. Default true; switch it off behind PgBouncer in transaction mode. */
        public Builder listen(boolean useListen) {
            this.listen = useListen;
            return this;
        }

        /** Whether opening brings the schema up to date. Default true; otherwise an older schema is refused. */
        public Builder migrate(boolean atOpen) {
            this.migrate = atOpen;
            return this;
        }

        /**
         * Whether this instance, once it has a worker, does the side duties: deadlines of waiting runs and the like.
         * Default true; one process that does is enough, any number of them is safe.
         */
        public Builder maintain(boolean withWorker) {
            this.maintain = withWorker;
            return this;
        }

        /**
         * Where events of the outbox go, if the namespace has one, see {@link NamespaceSpec#outbox}. They are sent by processes
         * that have a publisher and a worker; several share the work. An event is tried 20 times, after waits of 1 s doubling
         * to 10 min, before it is given up.
         */
        public Builder outbox(EventPublisher publisher) {
            return outbox(publisher, Publishing.DEFAULT_RETRY);
        }

        /** Like {@link #outbox(EventPublisher)}, with another number of attempts and other waits. */
        public Builder outbox(EventPublisher publisher, RetryPolicy retry) {
            this.publishing = new Publishing(Check.notNull("publisher", publisher), Check.notNull("retry", retry));
            return this;
        }

        /** Posts events of the outbox to a URL, signed with the secret; see {@link Webhook}. */
        public Builder webhook(String endpoint, String secret) {
            return webhook(Webhook.to(endpoint, secret));
        }

        /**
         * Posts events of the outbox to an endpoint. Needs {@code io.cloudevents:cloudevents-json-jackson} on the class path.
         *
         * @throws PreconditionFailed if that is missing
         */
        public Builder webhook(Webhook endpoint) {
            return webhook(endpoint, Publishing.DEFAULT_RETRY);
        }

        /** Like {@link #webhook(Webhook)}, with another number of attempts and other waits. */
        public Builder webhook(Webhook endpoint, RetryPolicy retry) {
            Check.notNull("webhook", endpoint);
            Publishing.checkCloudEvents();
            return outbox(new WebhookPublisher(endpoint), retry);
        }

        /** Puts something between the engine and its store, for those who test what the engine does without a rule of it. */
        Builder through(UnaryOperator<Store> around) {
            this.through = around;
            return this;
        }

        /**
         * Opens the database.
         *
         * @throws Unavailable if it cannot be reached
         * @throws PreconditionFailed if the schema has another version and may not be migrated
         */
        public Steadwork open() {
            var settings = new Settings(
                    new Workflow.Lease(lease, heartbeat), pollInterval, staleAfter, crashBudget, maintain, publishing);
            var payloads = new Payloads(codec, warnBytes, maxBytes);
            var store = openStore();
            try {
                if (migrate) {
                    store.migrate();
                } else {
                    store.checkSchema();
                }
                store.settings(namespace); // known from the first trigger on, also in a transaction of the caller
                var limited = payloads.within(() -> store.settings(namespace).payloadLimits());
                return new Steadwork(store, limited, namespace, settings);
            } catch (RuntimeException | Error failure) {
                store.close();
                throw failure;
            }
        }

        /**
         * The SQL that opening with {@link #migrate} runs on an empty database, with the schema's name filled in, for
         * people who apply it themselves. Changes nothing.
         */
        public String printMigrations() {
            try (var store = openStore()) {
                return store.printMigrations();
            }
        }

        private Store openStore() {
            if ((url == null) == (dataSource == null)) {
                throw new InvalidArgument("Give either url(...) or dataSource(...), and not both.");
            }
            return through.apply(JdbcStores.open(
                    new StoreConfig(url, dataSource, user, password, schema, poolSize, listen, staleAfter)));
        }
    }
}
