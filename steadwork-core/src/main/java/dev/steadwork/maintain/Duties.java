package dev.steadwork.maintain;

import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does the duties of a process, each at its interval; one that fails is tried again and never stops the others. */
public final class Duties {
    private static final Logger log = LoggerFactory.getLogger(Duties.class);

    private final List<Duty> duties;
    private final ScheduledThreadPoolExecutor timer;

    public Duties(List<Duty> duties) {
        this.duties = duties;
        this.timer = new ScheduledThreadPoolExecutor(1, task -> {
            var thread = new Thread(task, "steadwork-duties");
            thread.setDaemon(true);
            return thread;
        });
    }

    public void start() {
        for (var duty : duties) {
            long nanos = duty.interval().toNanos();
            // Processes that start together do not stay in step.
            long first = ThreadLocalRandom.current().nextLong(nanos / 2, nanos + 1);
            timer.scheduleWithFixedDelay(() -> doQuietly(duty), first, nanos, TimeUnit.NANOSECONDS);
        }
    }

    private static void doQuietly(Duty duty) {
        try {
            duty.work().run();
        } catch (RuntimeException | Error failure) {
            log.warn("Duty {} failed and is tried again: {}", duty.name(), failure.toString());
        }
    }

    public void stop() {
        timer.shutdown();
    }
}
