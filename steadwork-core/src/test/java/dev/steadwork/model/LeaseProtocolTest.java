package dev.steadwork.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.model.LeaseProtocol.Faults;
import dev.steadwork.model.LeaseProtocol.Rule;
import dev.steadwork.testing.Proves;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Visits every state of the protocol that can be reached with so many faults. */
class LeaseProtocolTest {
    private static Explorer.Findings explore(Rule removed, Faults faults) {
        var protocol = new LeaseProtocol(removed);
        return new Explorer<>(protocol::steps, LeaseProtocol::brokenRule, LeaseProtocol::hasEnded)
                .explore(LeaseProtocol.start(faults));
    }

    @ParameterizedTest(name = "{0} crashes, {1} early ends of a lease, {2} lost messages, {3} repeated ones")
    @CsvSource({"1, 1, 1, 0", "1, 1, 0, 1", "2, 1, 0, 0", "0, 1, 1, 1", "1, 0, 1, 1"})
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    @Proves({"LEASE-3", "STEP-1", "SLEEP-1", "RUN-3"})
    void no_order_of_events_breaks_a_rule_or_leaves_the_run_stuck(
            int crashes, int expiries, int losses, int duplicates) {
        var findings = explore(Rule.NONE, new Faults(crashes, expiries, losses, duplicates));

        assertThat(findings.brokenRule()).as(findings.toString()).isEmpty();
        assertThat(findings.states()).as("states").isGreaterThan(10_000);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void without_a_rule_something_breaks(Rule removed) {
        var findings = explore(removed, new Faults(1, 1, 0, 1));

        System.out.printf("Without %s: %s%n", removed, findings);
        assertThat(findings.brokenRule()).as("without " + removed).isPresent();
    }
}
