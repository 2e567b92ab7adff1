package dev.steadwork.examples.demo;

import java.io.IOException;
import java.nio.file.Path;

/** A worker process of the demo. It ends when it is asked to, and at once when the demo that started it is gone. */
final class DemoWorker {
    private DemoWorker() {}

    public static void main(String[] args) {
        var database = Path.of(args[0]);
        var log = new AttemptLog(Path.of(args[1]));
        int concurrency = Integer.parseInt(args[2]);

        var watch = new Thread(DemoWorker::dieWithTheDemo, "die-with-the-demo");
        watch.setDaemon(true);
        watch.start();

        try (var steadwork = Orders.open(database)) {
            steadwork
                    .worker()
                    .handle(Orders.FULFIL, new Orders(log)::fulfil)
                    .concurrency(concurrency)
                    .start()
                    .join();
        }
    }

    /** The demo holds the other end of our input open for as long as it lives. */
    private static void dieWithTheDemo() {
        try {
            while (System.in.read() >= 0) {
                Thread.onSpinWait();
            }
        } catch (IOException closed) {
            // the same as its end
        }
        Runtime.getRuntime().halt(1);
    }
}
