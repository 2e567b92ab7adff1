package dev.steadwork.execute;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** Decides what handlers run on: virtual threads where the JVM has them (21 and later), platform threads otherwise. */
public final class Threads {
    private Threads() {}

    public static ExecutorService perTask() {
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException olderJvm) {
            var number = new AtomicLong();
            return Executors.newCachedThreadPool(task -> daemon("steadwork-run-" + number.incrementAndGet(), task));
        }
    }

    public static Thread daemon(String name, Runnable task) {
        var thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Waits until the thread has ended; an interrupt is kept. Does not wait for itself. */
    public static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive() && thread != Thread.currentThread()) {
            try {
                thread.join();
            } catch (InterruptedException kept) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
