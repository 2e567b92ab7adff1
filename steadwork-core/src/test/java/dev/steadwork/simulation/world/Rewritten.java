package dev.steadwork.simulation.world;

import dev.steadwork.RunId;
import dev.steadwork.StepKind;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.NewRun;
import dev.steadwork.store.Write;
import java.util.List;
import java.util.function.ToLongFunction;

/** Requests and answers as a database would take them that breaks a promise. */
final class Rewritten {
    private Rewritten() {}

    static Write under(long epoch, Write write) {
        if (write instanceof Write.SaveStep w) {
            return new Write.SaveStep(w.run(), epoch, w.step(), w.child(), w.signal());
        } else if (write instanceof Write.SaveAttempt w) {
            return new Write.SaveAttempt(w.run(), epoch, w.attempt());
        } else if (write instanceof Write.Finish w) {
            return new Write.Finish(
                    w.run(), epoch, w.status(), w.output(), w.error(), w.deadLetter(), w.parent(), w.endsChildren());
        } else if (write instanceof Write.Park w) {
            return new Write.Park(
                    w.run(), epoch, w.wake(), w.sleep(), w.failedAttempt(), w.attempt(), w.error(), w.awaits());
        } else if (write instanceof Write.Pause w) {
            return new Write.Pause(w.run(), epoch);
        } else if (write instanceof Write.Release w) {
            return new Write.Release(w.run(), epoch);
        }
        return write;
    }

    static Write sleepingSoundly(Write write) {
        return write instanceof Write.Park park && park.awaits() != null
                ? new Write.Park(
                        park.run(),
                        park.epoch(),
                        park.wake(),
                        park.sleep(),
                        park.failedAttempt(),
                        park.attempt(),
                        park.error(),
                        new Write.Awaits(park.awaits().message(), Integer.MAX_VALUE))
                : write;
    }

    static Write withoutKey(Write write) {
        if (!(write instanceof Write.Trigger trigger)) {
            return write;
        }
        var run = trigger.newRun();
        return new Write.Trigger(new NewRun(
                run.id(),
                run.namespace(),
                run.type(),
                run.queue(),
                run.concurrencyKey(),
                run.input(),
                run.priority(),
                run.start(),
                run.deadline(),
                run.retry(),
                run.version(),
                run.externalId(),
                null,
                null,
                run.check(),
                run.tags(),
                run.parent()));
    }

    static boolean isSleep(Write write) {
        return write instanceof Write.Park park
                && park.sleep() != null
                && park.sleep().kind() == StepKind.SLEEP;
    }

    /** Only the sleep of a run that goes to sleep: it has no wake time of its own. */
    static Write onlySleep(Write write) {
        return isSleep(write) && write instanceof Write.Park park && park.sleep() != null
                ? new Write.SaveStep(park.run(), park.epoch(), park.sleep())
                : write;
    }

    static Write withoutSleep(Write write) {
        var park = (Write.Park) write;
        return new Write.Park(
                park.run(),
                park.epoch(),
                park.wake(),
                null,
                park.failedAttempt(),
                park.attempt(),
                park.error(),
                park.awaits());
    }

    static ClaimedRun withoutSteps(ClaimedRun run) {
        return new ClaimedRun(
                run.id(),
                run.type(),
                run.queue(),
                run.priority(),
                run.epoch(),
                run.attempt(),
                run.input(),
                run.retry(),
                run.deadline(),
                run.startedAt(),
                run.lostLeases(),
                run.cancelRequested(),
                run.parent(),
                run.depth(),
                run.inbox(),
                run.compensates(),
                List.of());
    }

    static Heartbeat underCurrentEpochs(Heartbeat heartbeat, ToLongFunction<RunId> current) {
        return new Heartbeat(
                heartbeat.namespace(),
                heartbeat.worker(),
                heartbeat.held().stream()
                        .map(held -> new Heartbeat.Held(
                                held.run(), current.applyAsLong(held.run()), held.lease(), held.step(), held.stepFor()))
                        .toList(),
                heartbeat.active(),
                heartbeat.completed(),
                heartbeat.failed(),
                heartbeat.draining());
    }
}
