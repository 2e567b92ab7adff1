package dev.steadwork.maintain;

import dev.steadwork.EventPublisher;
import dev.steadwork.PreconditionFailed;
import dev.steadwork.RetryPolicy;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import java.time.Duration;
import java.util.List;

/** Where events of the outbox go and how often they are tried. */
public record Publishing(EventPublisher publisher, RetryPolicy retry) {
    public static final RetryPolicy DEFAULT_RETRY =
            RetryPolicy.defaults().withMaxAttempts(20).withMaxInterval(Duration.ofMinutes(10));

    /** An event takes longer than a heartbeat: nobody prolongs its lease. */
    private static final int LEASES = 4;

    /** What this process records it is told of; for the rest a look now and then does. */
    private static final int POLL_INTERVALS = 3;

    private static final String DISPATCHER = "outbox";

    public List<Duty> duties(Store store, String namespace, Duration pollInterval, Duration lease) {
        return List.of(
                new Duty(
                        DISPATCHER,
                        pollInterval.multipliedBy(POLL_INTERVALS),
                        new Dispatcher(store, namespace, publisher, retry, lease.multipliedBy(LEASES))),
                new Duty("published-events", Duration.ofMinutes(10), new PublishedEvents(store, namespace)));
    }

    /** Lets the dispatcher look when this process has recorded something. */
    public Signals.Listener waking(Duties duties) {
        return new Signals.Listener() {
            @Override
            public void recorded() {
                duties.wake(DISPATCHER);
            }
        };
    }

    /** Refuses a class path without the library that not everyone needs. */
    public static void checkCloudEvents() {
        try {
            Class.forName("io.cloudevents.jackson.JsonFormat", false, Publishing.class.getClassLoader());
        } catch (ClassNotFoundException missing) {
            throw new PreconditionFailed(
                    "A webhook sends CloudEvents: add io.cloudevents:cloudevents-json-jackson to the class path, which Steadwork does not bring along.");
        }
    }
}
