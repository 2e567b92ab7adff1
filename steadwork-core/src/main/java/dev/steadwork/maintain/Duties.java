package dev.steadwork.maintain;

import dev.steadwork.execute.Threads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does the duties of a process, each on a thread of its own and at its interval, or earlier if it knows of something or is
 * woken. One that fails or hangs is tried again and never stops the others.
 */
public final class Duties {
    private static final Logger log = LoggerFactory.getLogger(Duties.class);

    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final List<Loop> loops;
    private boolean started;
    private volatile boolean stopping;

    public Duties(List<Duty> duties) {
        this.loops = duties.stream().map(Loop::new).toList();
    }

    /** Starts what has not been started yet. */
    public synchronized void start() {
        if (!started && !stopping) {
            started = true;
            loops.forEach(loop -> loop.thread.start());
        }
    }

    /** Lets the duty of this name look now. */
    public void wake(String name) {
        loops.stream().filter(loop -> loop.duty.name().equals(name)).forEach(Loop::wake);
    }

    /** Begins nothing more; what is under way is interrupted and waited for. */
    public synchronized void stop() {
        stopping = true;
        if (started) {
            loops.forEach(loop -> loop.thread.interrupt());
            loops.forEach(loop -> Threads.join(loop.thread));
        }
    }

    private final class Loop implements Runnable {
        private final Duty duty;
        private final Thread thread;
        private final Semaphore woken = new Semaphore(0);

        Loop(Duty duty) {
            this.duty = duty;
            this.thread = Threads.daemon("steadwork-" + duty.name(), this);
        }

        void wake() {
            woken.release();
        }

        @Override
        public void run() {
            long interval = nanos(duty.interval());
            // Processes that start together do not stay in step.
            long wait = ThreadLocalRandom.current().nextLong(interval / 10, interval / 2 + 1);
            while (!stopping) {
                await(wait);
                if (stopping) {
                    return;
                }
                wait = Math.min(interval, Math.max(0, nanos(doQuietly())));
            }
        }

        /** Who interrupts the thread and does not stop it only makes it look earlier. */
        private void await(long nanos) {
            try {
                woken.tryAcquire(nanos, TimeUnit.NANOSECONDS);
            } catch (InterruptedException stopped) {
                log.debug("Duty {} was interrupted.", duty.name());
            }
            woken.drainPermits();
        }

        /** A row may say that it is due in a thousand years. */
        private static long nanos(Duration time) {
            return time.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : time.toNanos();
        }

        private Duration doQuietly() {
            try {
                var next = duty.work().work();
                return next == null ? duty.interval() : next;
            } catch (RuntimeException | Error failure) {
                if (!stopping) {
                    log.warn("Duty {} failed and is tried again: {}", duty.name(), failure.toString());
                }
                return duty.interval();
            }
        }
    }
}
