package dev.steadwork.examples;

import dev.steadwork.OverlapPolicy;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A report every second by cron, once more by hand, and two nights of the past filled in: on the second one the clock went from
 * 02:00 to 03:00, so half past two was three o'clock.
 */
public final class ScheduleExample {
    static final Workflow<String, String> REPORT = Workflow.define("report", String.class, String.class);

    private static final BlockingQueue<String> reports = new LinkedBlockingQueue<>();

    private ScheduleExample() {}

    static String report(WorkflowContext ctx, String subject) {
        var report = ctx.step("write", String.class, step -> "report on " + subject);
        reports.add(report);
        return report;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.worker().handle(REPORT, ScheduleExample::report).start();
            var schedules = steadwork.schedules();

            schedules.create(
                    "often",
                    s -> s.workflow(REPORT).cron("* * * * * *").input("sales").overlap(OverlapPolicy.SKIP));
            System.out.println("by the clock: " + reports.poll(30, TimeUnit.SECONDS));
            schedules.disable("often");

            var byHand = schedules.trigger("often").await(Duration.ofSeconds(30));
            System.out.println("by hand: " + byHand);

            schedules.create(
                    "nightly",
                    s -> s.workflow(REPORT)
                            .cron("30 2 * * *")
                            .zone("Europe/Berlin")
                            .input("stock"));
            schedules.backfill("nightly", Instant.parse("2026-03-28T00:00:00Z"), Instant.parse("2026-03-30T00:00:00Z"));
            schedules.firings("nightly").items().stream()
                    .map(firing -> "filled in: " + firing.slot())
                    .sorted()
                    .forEach(System.out::println);
        }
    }
}
