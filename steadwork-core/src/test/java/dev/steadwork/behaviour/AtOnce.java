package dev.steadwork.behaviour;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Makes many calls at the same moment, each in a thread of its own. */
final class AtOnce {
    private AtOnce() {}

    static <T> List<T> call(int threads, IntFunction<T> call) throws Exception {
        var together = new CyclicBarrier(threads);
        var pool = Executors.newFixedThreadPool(threads);
        try {
            var calls = IntStream.range(0, threads)
                    .<Callable<T>>mapToObj(i -> () -> {
                        together.await();
                        return call.apply(i);
                    })
                    .toList();
            var results = new ArrayList<T>();
            for (var future : pool.invokeAll(calls)) {
                results.add(future.get());
            }
            return results;
        } finally {
            pool.shutdownNow();
        }
    }
}
