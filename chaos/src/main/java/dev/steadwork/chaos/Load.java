package dev.steadwork.chaos;

import dev.steadwork.InvalidState;
import dev.steadwork.RunHandle;
import dev.steadwork.Steadwork;
import dev.steadwork.SteadworkException;
import dev.steadwork.Workflow;
import dev.steadwork.chaos.Workflows.Ask;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Triggers at its rate until it is stopped: which workflows, and with what, its seed decides. */
final class Load {
    private static final int THREADS = 24;
    private static final int BACKLOG = 400;
    /** Of a hundred triggers so many have a key that the other client uses too. */
    private static final int KEYED = 12;
    /** One of so many runs is waited for. */
    private static final int AWAITED = 4;

    private final Steadwork steadwork;
    private final History history;
    private final Setup setup;
    private final BooleanSupplier stopped;
    private final Random random;
    private final ThreadPoolExecutor callers =
            new ThreadPoolExecutor(THREADS, THREADS, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(BACKLOG));
    private final ScheduledThreadPoolExecutor later = new ScheduledThreadPoolExecutor(2);
    private final Phaser open = new Phaser(1);
    private long asks;
    private long lastKey = -1;

    Load(Steadwork steadwork, History history, Setup setup, BooleanSupplier stopped) {
        this.steadwork = steadwork;
        this.history = history;
        this.setup = setup;
        this.stopped = stopped;
        this.random = new Random(setup.seed() * 31 + setup.process().hashCode());
    }

    /** One thing to be triggered. */
    private record Item(Workflow<Ask, String> workflow, Ask ask, String key, boolean awaited, int signalAfter) {}

    void run() {
        long period = (long) (1e9 / (setup.rate() * (100 - KEYED) / 100));
        long keyPeriod = (long) (1e9 / (setup.rate() * KEYED / 100));
        for (long due = System.nanoTime(); !stopped.getAsBoolean(); due += period) {
            long wait = due - System.nanoTime();
            if (wait > 0) {
                LockSupport.parkNanos(wait);
            }
            submit(next());
            long key = (System.nanoTime() - setup.startNanos()) / keyPeriod;
            if (key > lastKey) {
                lastKey = key;
                submit(new Item(Workflows.STEPS, ask(0), "key-" + key, false, 0));
            }
        }
    }

    private Ask ask(int millis) {
        return new Ask(setup.process() + "#" + ++asks, millis);
    }

    private Item next() {
        int roll = random.nextInt(88);
        boolean awaited = random.nextInt(AWAITED) == 0;
        int length = random.nextInt(1_000);
        if (roll < 30) {
            return item(Workflows.STEPS, 0, awaited);
        } else if (roll < 36) {
            return item(Workflows.SLOW, slowMillis(length), awaited);
        } else if (roll < 48) {
            return item(Workflows.SLEEP, sleepMillis(length), awaited);
        } else if (roll < 56) {
            return item(Workflows.RETRY, length < 100 ? 1_200 : 50, awaited);
        } else if (roll < 62) {
            return item(Workflows.FAMILY, 0, awaited);
        } else if (roll < 70) {
            return new Item(Workflows.SIGNAL, ask(0), "", awaited, length * 2);
        } else if (roll < 78) {
            return item(Workflows.PARALLEL, 0, awaited);
        }
        return item(Workflows.TRANSACTION, 0, awaited);
    }

    /** Many are still executed by the next worker when one that was frozen goes on. */
    private static int slowMillis(int roll) {
        return 300 + roll * 6;
    }

    /** Some are longer than it takes to notice a crash, so that a sleep that a crash ended early is seen. */
    private static int sleepMillis(int roll) {
        return roll < 700 ? 50 + roll * 2 : roll * 8;
    }

    private Item item(Workflow<Ask, String> workflow, int millis, boolean awaited) {
        return new Item(workflow, ask(millis), "", awaited, 0);
    }

    private void submit(Item item) {
        open.register();
        try {
            callers.execute(() -> trigger(item));
        } catch (RejectedExecutionException behind) {
            open.arriveAndDeregister(); // never asked: a client that waits for its database asks for less
        }
    }

    private void trigger(Item item) {
        try {
            history.add(Kind.ASKED, "", item.key(), 0, item.ask().id());
            var trigger = steadwork.workflow(item.workflow());
            var run = (item.key().isEmpty() ? trigger : trigger.idempotencyKey(item.key())).trigger(item.ask());
            history.add(
                    Kind.ACCEPTED,
                    run.id().toString(),
                    item.key(),
                    run.alreadyExisted() ? 1 : 0,
                    item.ask().id());
            follow(item, run);
        } catch (SteadworkException unknown) {
            history.add(Kind.UNKNOWN, "", item.key(), 0, item.ask().id() + " " + unknown.getMessage());
            if (!item.key().isEmpty()) {
                again(200, () -> trigger(item));
            }
        } finally {
            open.arriveAndDeregister();
        }
    }

    private void follow(Item item, RunHandle<String> run) {
        if (item.awaited()) {
            open.register();
            var unused = run.future().whenComplete((output, failure) -> {
                history.add(Kind.SEEN, run.id().toString(), "", 0, failure == null ? output : failure.toString());
                open.arriveAndDeregister();
            });
        }
        if (item.workflow() == Workflows.SIGNAL) {
            again(item.signalAfter(), () -> signal(run, item.ask().id()));
        }
    }

    private void signal(RunHandle<String> run, String value) {
        try {
            history.add(Kind.SENDING, run.id().toString(), "go", 0, value);
            run.signal("go", value);
            history.add(Kind.SENT, run.id().toString(), "go", 0, value);
        } catch (InvalidState ended) {
            // it waited long enough
        } catch (SteadworkException unknown) {
            again(200, () -> signal(run, value));
        } finally {
            open.arriveAndDeregister();
        }
    }

    /** Later; counts as open until then. */
    private void again(long millis, Runnable task) {
        open.register();
        var unused = later.schedule(() -> new Thread(task, "later").start(), millis, TimeUnit.MILLISECONDS);
    }

    /** Waits for what was begun. */
    void awaitEnd(Duration patience) throws InterruptedException {
        int phase = open.arriveAndDeregister();
        try {
            open.awaitAdvanceInterruptibly(phase, patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException left) {
            System.out.println("gave up waiting for " + open.getUnarrivedParties());
        }
        callers.shutdown();
        later.shutdownNow();
    }
}
