package dev.steadwork.examples;

import dev.steadwork.Steadwork;
import dev.steadwork.WorkerInfo;
import dev.steadwork.WorkerStatus;
import dev.steadwork.Workflow;
import java.io.IOException;
import java.time.Duration;

/** Who works on what: the old worker is drained by whoever operates the system, and the new one takes over. */
public final class WorkersExample {
    static final Workflow<String, String> GREET = Workflow.define("greet", String.class, String.class);

    private WorkersExample() {}

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            var old = steadwork
                    .worker()
                    .name("old")
                    .buildVersion("1.0")
                    .label("zone", "eu")
                    .handle(GREET, (ctx, name) -> "1.0 greets " + name)
                    .start();
            System.out.println(steadwork.workflow(GREET).trigger("Ada").await(Duration.ofSeconds(30)));

            steadwork.workers().drain(old.id());
            steadwork
                    .worker()
                    .name("new")
                    .buildVersion("1.1")
                    .label("zone", "eu")
                    .handle(GREET, (ctx, name) -> "1.1 greets " + name)
                    .start();

            steadwork.workers().label("zone", "eu").list().stream()
                    .map(WorkersExample::line)
                    .forEach(System.out::println);
            System.out.println("online: "
                    + steadwork
                            .workers()
                            .queue("greet")
                            .status(WorkerStatus.ONLINE)
                            .count());

            old.close();
            System.out.println(steadwork.workflow(GREET).trigger("Bob").await(Duration.ofSeconds(30)));
        }
    }

    private static String line(WorkerInfo worker) {
        return "%s %s serves %s: %s".formatted(worker.name(), worker.version(), worker.types(), worker.status());
    }
}
