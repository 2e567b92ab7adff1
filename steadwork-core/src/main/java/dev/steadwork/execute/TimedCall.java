package dev.steadwork.execute;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Calls code on a thread of its own, so that code that never ends holds up nothing but that thread. */
final class TimedCall {
    private TimedCall() {}

    static <T> @Nullable T run(ExecutorService threads, String step, Duration timeout, Callable<@Nullable T> code)
            throws Throwable {
        var call = threads.submit(code);
        try {
            return call.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            call.cancel(true);
            throw new StepTimeout(step, timeout);
        } catch (InterruptedException stopped) {
            call.cancel(true);
            throw stopped;
        } catch (ExecutionException failed) {
            throw failed.getCause();
        }
    }
}
