package dev.steadwork.benchmarks.measure;

import java.util.ArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Many callers at once. */
final class Lanes {
    private Lanes() {}

    interface Task {
        void run(int i) throws Exception;
    }

    /** Runs the tasks 0..n-1 on that many platform threads; the seconds it took. */
    static double threads(int threads, int n, Task task) throws Exception {
        try (var executor = Executors.newFixedThreadPool(threads)) {
            return run(executor, threads, n, task);
        }
    }

    /** Runs the tasks 0..n-1, at most so many at once, on virtual threads; the seconds it took. */
    static double virtual(int callers, int n, Task task) throws Exception {
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            return run(executor, callers, n, task);
        }
    }

    private static double run(ExecutorService executor, int lanes, int n, Task task)
            throws InterruptedException, ExecutionException {
        var next = new AtomicInteger();
        long start = System.nanoTime();
        var done = new ArrayList<Future<?>>();
        for (int lane = 0; lane < lanes; lane++) {
            done.add(executor.submit(() -> {
                for (int i = next.getAndIncrement(); i < n; i = next.getAndIncrement()) {
                    task.run(i);
                }
                return null;
            }));
        }
        for (var lane : done) {
            lane.get();
        }
        return secondsSince(start);
    }

    static double secondsSince(long nanos) {
        return (System.nanoTime() - nanos) / 1e9;
    }
}
