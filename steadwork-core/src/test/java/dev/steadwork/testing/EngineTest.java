package dev.steadwork.testing;

import dev.steadwork.Steadwork;
import dev.steadwork.Worker;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowHandler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A behaviour of the engine, tested on every database: each test has a fresh one, and short leases and polls. */
@ParameterizedClass
@EnumSource(TestDatabase.class)
public abstract class EngineTest {
    /** Long enough for a busy machine; nothing that works takes it. */
    protected static final Duration PATIENCE = Duration.ofSeconds(30);

    @Parameter
    protected TestDatabase database;

    protected String url;
    protected Steadwork steadwork;
    private final Deque<Steadwork> opened = new ArrayDeque<>();

    @BeforeEach
    void openDatabase() {
        url = database.newUrl();
        steadwork = open(settings -> settings);
    }

    @AfterEach
    void closeDatabase() {
        opened.forEach(Steadwork::close);
        if (database == TestDatabase.POSTGRES) {
            PostgresServer.dropDatabase(url);
        }
    }

    /** Another engine on the same database, as another process would have it. */
    protected Steadwork open(UnaryOperator<Steadwork.Builder> settings) {
        var quick = Steadwork.builder()
                .url(url)
                .lease(Duration.ofSeconds(2))
                .heartbeat(Duration.ofMillis(500))
                .pollInterval(Duration.ofMillis(500))
                .poolSize(5);
        var engine = settings.apply(quick).open();
        opened.push(engine);
        return engine;
    }

    /** A worker of the test's own engine. */
    protected <I, O> Worker work(Workflow<I, O> workflow, WorkflowHandler<I, O> handler) {
        return steadwork.worker().handle(workflow, handler).start();
    }
}
