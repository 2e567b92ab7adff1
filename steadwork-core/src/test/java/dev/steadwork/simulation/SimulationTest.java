package dev.steadwork.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.testing.Proves;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The engine over a database in memory, with a clock of its own and faults where the seed wants them. {@code
 * -Dsimulation.seeds=N} tries N seeds, {@code -Dsimulation.lanes=L} so many side by side, {@code -Dsimulation.seed=S} replays
 * one and prints what happens.
 */
class SimulationTest {
    private static final int SEEDS = Integer.getInteger("simulation.seeds", 10_000);
    private static final Long ONLY_SEED = Long.getLong("simulation.seed");
    /** Half of the machine: other tests run beside this one. */
    private static final int LANES = Integer.getInteger(
            "simulation.lanes", Math.max(1, Runtime.getRuntime().availableProcessors() / 2));

    @Test
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    @Proves({"RUN-3", "STEP-1", "SLEEP-1"})
    void under_no_seed_is_anything_lost_or_recorded_twice() {
        if (ONLY_SEED != null) {
            var verdict = Simulation.of("NONE").run(ONLY_SEED, true);
            verdict.trace().forEach(System.out::println);
            assertThat(verdict.violations()).as("seed " + ONLY_SEED).isEmpty();
            return;
        }
        long began = System.nanoTime();
        var campaign = new Campaign("NONE");
        campaign.run();

        System.out.printf(
                "Simulated %d seeds with %d faults in %d s.%n",
                campaign.seeds.get(), campaign.faults.get(), TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began));
        assertThat(campaign.failed.stream().map(SimulationTest::replayed)).isEmpty();
        assertThat(campaign.faults.get()).as("faults").isGreaterThan(SEEDS);
        assertThat(campaign.begun.get())
                .as("runs that began with their creation")
                .isGreaterThan(SEEDS / 10);
        assertThat(campaign.opened.get()).as("runs of open claims").isGreaterThan(SEEDS / 20);
    }

    /** What to look at, and how to see it again. */
    private static String replayed(Simulation.Verdict failed) {
        var verdict = Simulation.of("NONE").run(failed.seed(), true);
        return "%nSeed %d: %s%n%s%nReplay it with -Dtest=SimulationTest -Dsimulation.seed=%d%n"
                .formatted(failed.seed(), failed.violations(), String.join("\n", verdict.trace()), failed.seed());
    }

    @Test
    void the_same_seed_is_the_same_story() {
        var first = Simulation.of("NONE");
        var second = Simulation.of("NONE");
        second.run(4711, false);
        for (long seed = 1; seed <= 25; seed++) {
            var once = first.run(seed, true);
            var again = second.run(seed, true);

            assertThat(again.trace()).as("seed " + seed).isEqualTo(once.trace());
            assertThat(again.digest()).isEqualTo(once.digest());
            assertThat(second.run(seed, false).digest()).isEqualTo(once.digest());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NO_EPOCH_CHECK",
                "LAST_WRITE_WINS",
                "SLEEP_IN_TWO_TRANSACTIONS",
                "PROMOTION_KEEPS_EPOCH",
                "LOST_LEASE_IS_NOT_TOLD",
                "CLAIM_FORGETS_STEPS",
                "SLEEPS_OVER_MESSAGES",
                "KEYS_ARE_IGNORED",
                "SOME_WRITES_ARE_LOST"
            })
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void a_database_that_breaks_a_promise_is_found_out(String mutant) {
        var campaign = new Campaign(mutant);
        campaign.run();

        assertThat(campaign.failed).as(mutant).isNotEmpty();
        var found = campaign.failed.element();
        System.out.printf(
                "%s was found by seed %d: %s%n",
                mutant, found.seed(), found.violations().get(0));
    }

    /** Tries seeds until one fails, or all have passed. */
    private static final class Campaign {
        private final String mutant;
        private final AtomicLong nextSeed = new AtomicLong(1);
        private final AtomicInteger seeds = new AtomicInteger();
        private final AtomicLong faults = new AtomicLong();
        private final AtomicLong begun = new AtomicLong();
        private final AtomicLong opened = new AtomicLong();
        private final Queue<Simulation.Verdict> failed = new ConcurrentLinkedQueue<>();

        Campaign(String mutant) {
            this.mutant = mutant;
        }

        void run() {
            var lanes = Stream.generate(() -> new Thread(this::lane, "simulation"))
                    .limit(LANES)
                    .toList();
            lanes.forEach(Thread::start);
            for (var lane : lanes) {
                try {
                    lane.join();
                } catch (InterruptedException late) {
                    throw new IllegalStateException("The simulation took too long.", late);
                }
            }
        }

        private void lane() {
            var simulation = Simulation.of(mutant);
            for (long seed = nextSeed.getAndIncrement();
                    seed <= SEEDS && failed.isEmpty();
                    seed = nextSeed.getAndIncrement()) {
                var verdict = simulation.run(seed, false);
                seeds.incrementAndGet();
                faults.addAndGet(verdict.faults());
                begun.addAndGet(verdict.begun());
                opened.addAndGet(verdict.opened());
                if (!verdict.violations().isEmpty()) {
                    failed.add(verdict);
                }
            }
        }
    }
}
