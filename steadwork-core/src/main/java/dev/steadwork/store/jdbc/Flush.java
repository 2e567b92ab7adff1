package dev.steadwork.store.jdbc;

import dev.steadwork.store.Ack;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Write;
import dev.steadwork.store.WriteResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** One batch of writes on its way through the database: what was asked, what is answered, whom to tell. */
final class Flush {
    private final List<? extends Write> batch;
    private final @Nullable WriteResult[] answers;
    private final Set<Integer> ready = new HashSet<>();
    private final Set<Integer> told = new HashSet<>();
    private final Set<Integer> parked = new HashSet<>();
    private final List<Integer> ended = new ArrayList<>();
    private final Effects effects = new Effects();
    private boolean recorded;

    Flush(List<? extends Write> batch) {
        this.batch = batch;
        this.answers = new WriteResult[batch.size()];
    }

    /** A write and its place in the batch. */
    private record Item<W extends Write>(int index, W write) {}

    /** The writes of one kind, in the order of run ids: the order in which every statement locks runs. */
    final class Kind<W extends Write> {
        private final List<Item<W>> items;
        private final List<W> writes;

        private Kind(List<Item<W>> items) {
            this.items = items;
            this.writes = items.stream().map(Item::write).toList();
        }

        List<W> writes() {
            return writes;
        }

        boolean isEmpty() {
            return items.isEmpty();
        }

        /** The write with this number, as statements number them: from 1. */
        W write(int n) {
            return writes.get(n - 1);
        }

        void answer(int n, WriteResult answer) {
            answers[items.get(n - 1).index] = answer;
        }

        void answerAll(WriteResult answer) {
            items.forEach(item -> answers[item.index] = answer);
        }
    }

    <W extends Write> Kind<W> all(Class<W> kind) {
        return select(kind, index -> true);
    }

    <W extends Write> Kind<W> all(Class<W> kind, Predicate<W> which) {
        return select(kind, index -> which.test(kind.cast(batch.get(index))));
    }

    /** Those that a statement applied. */
    <W extends Write> Kind<W> answered(Class<W> kind) {
        return select(kind, index -> answers[index] != null);
    }

    /** Those that no statement applied. */
    <W extends Write> Kind<W> unanswered(Class<W> kind) {
        return select(kind, index -> answers[index] == null);
    }

    <W extends Write> Kind<W> unanswered(Class<W> kind, Predicate<W> which) {
        return select(kind, index -> answers[index] == null && which.test(kind.cast(batch.get(index))));
    }

    private <W extends Write> Kind<W> select(Class<W> kind, IntPredicate which) {
        var items = new ArrayList<Item<W>>();
        for (int i = 0; i < batch.size(); i++) {
            if (kind.isInstance(batch.get(i)) && which.test(i)) {
                items.add(new Item<>(i, kind.cast(batch.get(i))));
            }
        }
        items.sort(Comparator.comparing(item -> item.write.run()));
        return new Kind<>(items);
    }

    /** Events of it were kept. */
    void recorded() {
        recorded = true;
    }

    boolean isRecorded() {
        return recorded;
    }

    /** What those writes mean that a statement applied, in the order of the batch. */
    List<NewEvent> events() {
        var events = new ArrayList<NewEvent>();
        for (int i = 0; i < answers.length; i++) {
            if (batch.get(i) instanceof Write.Fenced write && answers[i] instanceof Ack ack) {
                events.addAll(NewEvent.of(write, ack.pauseRequested()));
            }
        }
        return events;
    }

    /** All answers, in the order of the batch. */
    List<WriteResult> answers() {
        var all = new ArrayList<WriteResult>(answers.length);
        for (int i = 0; i < answers.length; i++) {
            var answer = answers[i];
            if (answer == null) {
                throw new IllegalStateException("Nothing is known of " + batch.get(i));
            }
            all.add(answer);
        }
        return all;
    }

    /** Runs are ready in this queue, or will be soon. */
    void ready(String namespace, String queue) {
        ready.add(Signals.topic(namespace, queue));
    }

    void ready(Set<Integer> topics) {
        ready.addAll(topics);
    }

    /** The transaction itself tells other processes of these queues. */
    void told(Set<Integer> topics) {
        told.addAll(topics);
    }

    /** A timer of this queue has changed, too far away for other processes to care. */
    void parked(String namespace, String queue) {
        parked.add(Signals.topic(namespace, queue));
    }

    void ended(Write write) {
        ended.add(Signals.hash(write.run()));
    }

    /** What the writes brought about for other runs. */
    Effects effects() {
        return effects;
    }

    Set<Integer> readyTopics() {
        return ready;
    }

    /** Those of them of which other processes have yet to be told. */
    Set<Integer> untoldTopics() {
        var untold = new HashSet<>(ready);
        untold.removeAll(told);
        return untold;
    }

    Set<Integer> parkedTopics() {
        return parked;
    }

    List<Integer> endedHashes() {
        return ended;
    }
}
