package dev.steadwork.store.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Up to which time the ready runs that a kind of claim would take have been taken, so that the next claim need not look there:
 * for each priority that was met, and for all others. It is knowledge, not truth: a run may become ready with an older time, if its
 * transaction took long or another process has found its worker dead. So claims look at everything: each time while that is
 * quick, but for those that follow a claim which got all it asked for, and now and then while it is slow.
 */
final class ReadyFloors {
    /** Runs are ready a moment before they can be seen: their time is that at which their transaction began. */
    static final Duration MARGIN = Duration.ofSeconds(1);

    /** For so long, after everything was looked at, claims that take all they can may begin where the last one ended. */
    private static final long FOLLOWING_NANOS = Duration.ofMillis(100).toNanos();

    private static final int MOST_LEVELS = 8;

    private final WholeLooks wholeLooks;
    /** The highest priority first. */
    private final NavigableMap<Integer, Instant> levels = new TreeMap<>(Collections.reverseOrder());

    private Instant others = Instant.MIN;
    private int lowered;
    private int told;
    private boolean moreWait;
    private long wholeNanos;

    ReadyFloors(WholeLooks wholeLooks) {
        this.wholeLooks = wholeLooks;
    }

    /** A part of a queue that is looked at: these priorities, and what is ready since then. */
    record Span(String queue, int highest, int lowest, Instant since) {}

    /** Where a claim looks. */
    final class Look {
        private final List<Span> spans;
        private final boolean whole;
        private final int loweredBefore = lowered;
        private final int toldBefore = told;
        private final long beganNanos = System.nanoTime();

        private Look(List<Span> spans, boolean whole) {
            this.spans = spans;
            this.whole = whole;
        }

        List<Span> spans() {
            return spans;
        }

        /** All that was there has been taken. */
        void foundAll(Instant now, Stream<Integer> priorities) {
            raise(() -> takenUpTo(now.minus(MARGIN), priorities));
        }

        /** More may be there than has been taken, in this order up to a run like this. */
        void foundEnough(Instant now, int lastPriority, Instant lastReadySince) {
            raise(() -> {
                takenUpTo(now.minus(MARGIN), lastPriority, lastReadySince);
                moreWait = told == toldBefore;
            });
        }

        /** When everything will be looked at, if this was not everything; else null. */
        @Nullable
        Duration untilWhole() {
            return whole ? null : wholeLooks.areDue() ? Duration.ZERO : wholeLooks.untilNext();
        }

        /** Unless runs became ready meanwhile that this claim may not have seen. */
        private void raise(Runnable change) {
            synchronized (ReadyFloors.this) {
                if (lowered == loweredBefore) {
                    change.run();
                }
            }
        }

        void ended(int runs) {
            long took = System.nanoTime() - beganNanos;
            if (whole) {
                wholeLooks.took(took, runs);
            } else {
                wholeLooks.partTook(took);
            }
        }
    }

    synchronized Look look(List<String> queues) {
        long now = System.nanoTime();
        boolean follows = moreWait && now - wholeNanos < FOLLOWING_NANOS;
        boolean whole = wholeLooks.areDue() && !follows;
        wholeNanos = whole ? now : wholeNanos;
        moreWait = false;
        return new Look(whole ? whole(queues) : spans(queues), whole);
    }

    /** Runs may have become ready, since whenever. */
    synchronized void told() {
        told++;
        moreWait = false;
    }

    private static List<Span> whole(List<String> queues) {
        return queues.stream()
                .map(queue -> new Span(queue, Integer.MAX_VALUE, Integer.MIN_VALUE, Instant.MIN))
                .toList();
    }

    /** Each known priority apart: an index is entered at a time only if the priority is given. */
    private List<Span> spans(List<String> queues) {
        var spans = new ArrayList<Span>();
        for (var queue : queues) {
            long highest = Integer.MAX_VALUE;
            for (var level : levels.entrySet()) {
                int priority = level.getKey();
                if (highest > priority) {
                    spans.add(new Span(queue, (int) highest, priority + 1, others));
                }
                spans.add(new Span(queue, priority, priority, level.getValue()));
                highest = priority - 1L;
            }
            if (highest >= Integer.MIN_VALUE) {
                spans.add(new Span(queue, (int) highest, Integer.MIN_VALUE, others));
            }
        }
        return spans;
    }

    private void takenUpTo(Instant time, Stream<Integer> priorities) {
        others = time;
        priorities.forEach(priority -> levels.put(priority, time));
        if (levels.isEmpty()) {
            levels.put(0, time); // the one that most runs have
        }
        levels.replaceAll((priority, since) -> time);
        keepFew();
    }

    /** What is more urgent than the last run has been taken, and what is as urgent and ready for longer. */
    private void takenUpTo(Instant time, int lastPriority, Instant lastReadySince) {
        levels.headMap(lastPriority).replaceAll((priority, since) -> time);
        levels.put(lastPriority, earlier(lastReadySince, time));
        keepFew();
    }

    private void keepFew() {
        if (levels.size() > MOST_LEVELS) {
            others = earlier(others, Collections.min(levels.values()));
            levels.clear();
        }
    }

    /** Runs became ready that count as ready since then. */
    synchronized void becameReady(Instant since) {
        lowered++;
        others = earlier(others, since);
        levels.replaceAll((priority, floor) -> earlier(floor, since));
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }
}
