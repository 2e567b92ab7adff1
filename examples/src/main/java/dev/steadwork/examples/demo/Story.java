package dev.steadwork.examples.demo;

import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.Steadwork;
import dev.steadwork.Trigger;
import dev.steadwork.examples.demo.AttemptLog.Entry;
import dev.steadwork.examples.demo.AttemptLog.Event;
import dev.steadwork.examples.demo.Board.Phase;
import dev.steadwork.examples.demo.Board.Row;
import dev.steadwork.examples.demo.Line.Look;
import dev.steadwork.examples.demo.Orders.Order;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The course of the demo: orders are accepted, a worker process dies in the middle of them, another finishes them. */
final class Story implements AutoCloseable {
    private static final Duration TICK = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration WELL_BEGUN = Duration.ofMillis(300);
    private static final int NAMED_AT_MOST = 4;
    private static final int MAX_WORKERS = 20;

    private final Steadwork steadwork;
    private final DemoFiles files;
    private final View view;
    private final CtrlC ctrlC;
    private final AttemptLog log;
    private final Board board;
    private final long startNanos = System.nanoTime();
    private List<RunId> orders = List.of();
    private int started;
    private @Nullable WorkerProcess worker;

    /** The demo cannot go on; the message says why. */
    static final class Broken extends RuntimeException {
        Broken(String message) {
            super(message);
        }
    }

    /**
     * How it ended.
     *
     * @param takeOver how long after the kill the first interrupted order went on; null if there was no kill
     */
    record Outcome(Tally tally, @Nullable Duration takeOver) {}

    /** When the worker was killed, and the orders it was in the middle of. */
    private record Kill(Instant at, List<Row> interrupted) {}

    Story(Steadwork steadwork, DemoFiles files, View view, CtrlC ctrlC) {
        this.steadwork = steadwork;
        this.files = files;
        this.view = view;
        this.ctrlC = ctrlC;
        this.log = new AttemptLog(files.attempts());
        this.board = new Board(steadwork, log);
    }

    Outcome tell(int newOrders) {
        steadwork.register(Orders.FULFIL);
        board.look();
        orders = board.unfinished();
        return orders.isEmpty() ? crashAndTakeOver(newOrders) : finishWhatIsLeft();
    }

    private Outcome crashAndTakeOver(int newOrders) {
        orders = place(newOrders);
        view.say(Look.BOLD, "%s accepted and kept in %s".formatted(count(newOrders), files.database()));

        start();
        watchUntil(() -> board.isExecuting("ship", worker().pid(), WELL_BEGUN));
        var kill = kill();

        start();
        watchUntil(() -> resumed(kill).isPresent() || allEnded());
        var takeOver = resumed(kill).map(first -> sayTakeOver(kill, first)).orElse(null);

        return new Outcome(tallyAtTheEnd(), takeOver);
    }

    private Outcome finishWhatIsLeft() {
        view.say(
                Look.YELLOW,
                "%s left unfinished in %s by an earlier demo: finishing what is left, no new ones are placed."
                        .formatted(count(orders.size()), files.database()));
        start();
        return new Outcome(tallyAtTheEnd(), null);
    }

    private Tally tallyAtTheEnd() {
        watchUntil(this::allEnded);
        board.look(); // the log is read before the database, so the last lines may still be unread
        return board.tally();
    }

    private List<RunId> place(int newOrders) {
        long first = board.size() + 1L;
        var triggers = LongStream.range(first, first + newOrders)
                .mapToObj(Order::number)
                .map(order -> Trigger.of(order).externalId(order.id()))
                .toList();
        var placed = steadwork.workflow(Orders.FULFIL).triggerAll(triggers).stream()
                .map(RunHandle::id)
                .toList();
        placed.forEach(log::accepted);
        return placed;
    }

    private void start() {
        var name = String.valueOf((char) ('A' + started++));
        worker = WorkerProcess.start(name, files, Math.max(1, (orders.size() + 1) / 2));
        say(Look.CYAN, "worker %s starts, pid %d".formatted(name, worker.pid()));
    }

    private Kill kill() {
        var killed = worker();
        killed.kill();
        var at = Instant.now();
        board.look();
        var interrupted =
                rows().stream().filter(row -> row.has(Phase.INTERRUPTED)).toList();
        say(
                Look.RED,
                "KILL -9 worker %s, pid %d, in the middle of %s"
                        .formatted(killed.name(), killed.pid(), names(interrupted)));
        return new Kill(at, interrupted);
    }

    private Optional<Entry> resumed(Kill kill) {
        var runs = kill.interrupted().stream().map(Row::run).collect(Collectors.toSet());
        return board.entries().stream()
                .filter(entry -> entry.event() == Event.STARTED && entry.at().isAfter(kill.at()))
                .filter(entry -> runs.contains(entry.run()))
                .findFirst();
    }

    private Duration sayTakeOver(Kill kill, Entry first) {
        var takeOver = Duration.between(kill.at(), first.at());
        var order = kill.interrupted().stream()
                .filter(row -> row.run().equals(first.run()))
                .map(Row::order)
                .findFirst()
                .orElseThrow();
        say(
                Look.GREEN,
                "TAKE-OVER worker %s goes on with %s at %s, %s after the kill"
                        .formatted(worker().name(), order, first.step(), View.seconds(takeOver)));
        return takeOver;
    }

    /** Shows what happens until the condition holds. */
    private void watchUntil(BooleanSupplier condition) {
        long lastNews = System.nanoTime();
        long news = -1;
        while (true) {
            board.look();
            view.show(new View.Moment(elapsed(), workerNow(), rows()));
            if (condition.getAsBoolean()) {
                return;
            }
            if (board.news() != news) {
                news = board.news();
                lastNews = System.nanoTime();
            }
            pause();
            checkWorker();
            if (System.nanoTime() - lastNews > PATIENCE.toNanos()) {
                throw new Broken("nothing has happened for %s; giving up".formatted(View.seconds(PATIENCE)));
            }
        }
    }

    private String workerNow() {
        boolean isHeardOf = board.hasEntryOf(worker().pid());
        return "worker %s%s".formatted(worker().name(), isHeardOf ? "" : " is starting");
    }

    private void checkWorker() {
        var watched = worker();
        if (watched.isAlive()) {
            return;
        }
        pause(); // Ctrl-C reaches the worker too, and it may have been quicker
        if (!watched.wasKilled() || started > MAX_WORKERS) {
            throw new Broken("worker %s has ended by itself, which it should not:%n%s"
                    .formatted(watched.name(), workerOutput()));
        }
        say(Look.RED, "worker %s, pid %d, was killed by somebody else".formatted(watched.name(), watched.pid()));
        start();
    }

    private void pause() {
        try {
            Thread.sleep(TICK.toMillis());
        } catch (InterruptedException kept) {
            Thread.currentThread().interrupt();
            throw new Broken("interrupted");
        }
        if (ctrlC.isPressed()) {
            throw new Broken("interrupted" + files.hintToGoOn());
        }
    }

    private boolean allEnded() {
        return rows().stream().allMatch(row -> row.status().isTerminal());
    }

    private List<Row> rows() {
        return board.rows(orders, worker().isAlive() ? Set.of(worker().pid()) : Set.of());
    }

    private WorkerProcess worker() {
        if (worker == null) {
            throw new IllegalStateException("no worker was started");
        }
        return worker;
    }

    private String workerOutput() {
        try {
            return Files.readString(files.workerOutput()).strip();
        } catch (IOException unreadable) {
            return "its output cannot be read: " + unreadable;
        }
    }

    private void say(Look look, String text) {
        view.say(look, "%8s  %s".formatted(View.seconds(elapsed()), text));
    }

    private Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - startNanos);
    }

    private static String count(int orders) {
        return orders == 1 ? "1 order" : orders + " orders";
    }

    private static String names(List<Row> rows) {
        if (rows.isEmpty()) {
            return "nothing, it was just between two steps";
        }
        var named = rows.stream().limit(NAMED_AT_MOST).map(Row::order).collect(Collectors.joining(", "));
        int more = rows.size() - NAMED_AT_MOST;
        return more > 0 ? "%s and %d more".formatted(named, more) : named;
    }

    /** Ends the worker process, which has nothing left to do, or nobody to do it for. */
    @Override
    public void close() {
        if (worker != null) {
            worker.close();
        }
    }
}
