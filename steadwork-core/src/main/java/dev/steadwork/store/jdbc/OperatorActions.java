package dev.steadwork.store.jdbc;

import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.store.By;
import dev.steadwork.store.Operations;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What somebody asks of runs. */
final class OperatorActions implements Operations {
    private final Transitions transitions;
    private final BulkTransitions bulk;
    private final Forks forks;
    private final Messages messages;

    OperatorActions(Database database, JdbcStore store, Families families, Events events, By by) {
        this.transitions = new Transitions(database, store, families, events, by);
        this.bulk = new BulkTransitions(database);
        this.forks = new Forks(database, store, events, by);
        this.messages = new Messages(database, store, families, events, by);
    }

    @Override
    public void cancel(RunId run) {
        transitions.cancel(run);
    }

    @Override
    public void terminate(RunId run, String reason) {
        transitions.terminate(run, reason);
    }

    @Override
    public void pause(RunId run) {
        transitions.pause(run);
    }

    @Override
    public void resume(RunId run) {
        transitions.resume(run);
    }

    @Override
    public void retry(RunId run) {
        transitions.retry(run);
    }

    @Override
    public void delete(RunId run, String reason) {
        transitions.delete(run, reason);
    }

    @Override
    public void signal(RunId run, String name, Payload payload) {
        messages.signal(run, name, payload);
    }

    @Override
    public int cancelAll(List<RunId> runs) {
        return bulk.apply(runs, transitions::cancel);
    }

    @Override
    public int retryAll(List<RunId> runs) {
        return bulk.apply(runs, transitions::retry);
    }

    @Override
    public int deleteAll(List<RunId> runs, String reason) {
        return bulk.apply(runs, (handle, run) -> transitions.delete(handle, run, reason));
    }

    @Override
    public RunId fork(RunId run, String step, @Nullable Payload input) {
        return forks.fork(run, step, input);
    }
}
