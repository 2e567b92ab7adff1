package dev.steadwork.chaos;

import dev.steadwork.Steadwork;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Workflow;
import java.util.List;

/** What is triggered while everything fails. */
final class Workflows {
    static final String SCHEDULE = "every-second";

    static final Workflow<Ask, String> STEPS = define("steps");
    static final Workflow<Ask, String> SLOW = define("slow");
    static final Workflow<Ask, String> SLEEP = define("sleep");
    static final Workflow<Ask, String> RETRY = define("retry");
    static final Workflow<Ask, String> FAMILY = define("family");
    static final Workflow<Ask, String> CHILD = define("child");
    static final Workflow<Ask, String> SIGNAL = define("signal");
    static final Workflow<Ask, String> PARALLEL = define("parallel");
    static final Workflow<Ask, String> TRANSACTION = define("transaction");
    static final Workflow<Ask, String> TICK = define("tick");

    static final List<Workflow<Ask, String>> ALL =
            List.of(STEPS, SLOW, SLEEP, RETRY, FAMILY, CHILD, SIGNAL, PARALLEL, TRANSACTION, TICK);

    private Workflows() {}

    /**
     * The input of every workflow.
     *
     * @param id who asked, and a number: no two asks are the same
     * @param millis how long a sleep, a slow step or a retry takes
     */
    record Ask(String id, int millis) {}

    private static Workflow<Ask, String> define(String name) {
        return Workflow.define(name, Ask.class, String.class).check(TriggerCheck.ACCEPT);
    }

    static void prepare(Steadwork steadwork) {
        steadwork.register(ALL.toArray(Workflow<?, ?>[]::new));
        steadwork
                .schedules()
                .create(
                        SCHEDULE,
                        schedule -> schedule.workflow(TICK)
                                .cron("* * * * * *")
                                .maxCatchup(1_000)
                                .input(new Ask(SCHEDULE, 0)));
    }
}
