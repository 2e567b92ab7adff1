package dev.steadwork.chaos;

import dev.steadwork.Steadwork;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/** A client in a process of its own: triggers, sends signals and waits for results. Any line on its input ends the load. */
public final class ClientMain {
    private ClientMain() {}

    public static void main(String[] arguments) throws InterruptedException {
        var setup = Setup.of(arguments);
        var stopped = new AtomicBoolean();
        var stop = new CountDownLatch(1);
        ProcessInput.read(line -> {
            stopped.set(true);
            stop.countDown();
        });
        var builder = Steadwork.builder()
                .url(setup.url())
                .pollInterval(Duration.ofMillis(500))
                .poolSize(6);
        try (var steadwork = WorkerMain.open(builder);
                var history = History.open(setup.folder(), setup.process())) {
            history.add(Kind.STARTED, "", "", 0, "");
            var load = new Load(steadwork, history, setup, stopped::get);
            load.run();
            stop.await();
            load.awaitEnd(Duration.ofSeconds(60));
        }
    }
}
