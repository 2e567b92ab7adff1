package dev.steadwork.behaviour;

import static dev.steadwork.testing.Script.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.ScheduleFiring;
import dev.steadwork.ScheduleFiring.Outcome;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import dev.steadwork.testing.WorkerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Many processes fire the same schedules, and some are killed while they do. */
class ScheduleProcessTest extends EngineTest {
    private static final int PROCESSES = 10;
    private static final Duration LONG = Duration.ofMinutes(2);

    @Test
    @Proves("SCHED-2")
    void ten_processes_fire_an_every_second_schedule_once_per_slot_through_kills() {
        var processes = new ArrayList<WorkerProcess>();
        try {
            IntStream.range(0, PROCESSES).forEach(i -> processes.add(WorkerProcess.start(url, Duration.ofSeconds(4))));
            steadwork
                    .schedules()
                    .create("tick", s -> s.workflow(SCRIPT).cron("* * * * * *").input(List.of("step tick")));
            for (int killed = 0; killed < PROCESSES / 2; killed++) {
                awaitFirings(firings().size() + 2);
                processes.remove(0).kill();
            }
            awaitFirings(firings().size() + 3);
            steadwork.schedules().disable("tick");

            var slots = firings().stream().map(ScheduleFiring::slot).sorted().toList();
            assertThat(slots)
                    .as("no slot is missing")
                    .isEqualTo(IntStream.range(0, slots.size())
                            .mapToObj(slots.get(0)::plusSeconds)
                            .toList());
            assertThat(firings()).allMatch(firing -> firing.outcome() == Outcome.FIRED);
            assertThat(runs()).as("no slot has two runs").hasSize(slots.size());
            assertThat(runs())
                    .extracting(RunInfo::id)
                    .containsExactlyInAnyOrderElementsOf(
                            firings().stream().map(ScheduleFiring::run).toList());
            await().atMost(LONG)
                    .untilAsserted(() -> assertThat(runs()).allMatch(run -> run.status() == RunStatus.COMPLETED));
        } finally {
            processes.forEach(WorkerProcess::close);
        }
    }

    private List<ScheduleFiring> firings() {
        return steadwork.schedules().firings("tick", 1_000).items();
    }

    private List<RunInfo> runs() {
        return steadwork.runs().externalId("schedule-tick").page(1_000).items();
    }

    private void awaitFirings(int count) {
        await().atMost(LONG).until(() -> firings().size() >= count);
    }
}
