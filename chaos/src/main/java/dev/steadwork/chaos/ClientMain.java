package dev.steadwork.chaos;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A client in a process of its own: triggers, sends signals and waits for results. Any line on its input ends the load. The one that
 * is killed at times also works, as many applications do, so that its own runs begin with their creation.
 */
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
        var builder = WorkerMain.settings(setup).url(setup.url());
        try (var steadwork = WorkerMain.open(builder);
                var history = History.open(setup.folder(), setup.process())) {
            if (setup.lane() == Fleet.CLIENTS && setup.mutant() == Mutant.NONE) {
                WorkerMain.start(steadwork, history);
            }
            history.add(Kind.STARTED, "", "", 0, "");
            var load = new Load(steadwork, history, setup, stopped::get);
            load.run();
            stop.await();
            load.awaitEnd(Duration.ofSeconds(60));
        }
    }
}
