package dev.steadwork.metrics;

import dev.steadwork.QueueStats;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What waits in queues. The first gauge that is read after a while asks the database, for all of them; a queue that appears then
 * has gauges from the next look on. A database that cannot be reached makes them NaN.
 */
final class QueueGauges {
    private static final Logger log = LoggerFactory.getLogger(QueueGauges.class);
    static final Duration MAX_AGE = Duration.ofSeconds(15);

    private final Supplier<List<QueueStats>> source;
    private final MeterRegistry registry;
    private final Set<String> known = new HashSet<>();
    private Map<String, QueueStats> stats = Map.of();
    private boolean reachable;
    private long askedAtNanos = System.nanoTime() - MAX_AGE.toNanos();

    QueueGauges(Supplier<List<QueueStats>> source, MeterRegistry registry) {
        this.source = source;
        this.registry = registry;
    }

    void register() {
        Gauge.builder("steadwork.queues", this, QueueGauges::queues)
                .description("How many queues there are")
                .strongReference(true)
                .register(registry);
        refresh();
    }

    private synchronized double queues() {
        refresh();
        return reachable ? stats.size() : Double.NaN;
    }

    private synchronized void refresh() {
        if (System.nanoTime() - askedAtNanos < MAX_AGE.toNanos()) {
            return;
        }
        askedAtNanos = System.nanoTime();
        try {
            stats = source.get().stream().collect(Collectors.toMap(QueueStats::queue, Function.identity()));
            reachable = true;
            stats.keySet().forEach(this::addGauges);
        } catch (RuntimeException unavailable) {
            reachable = false;
            log.debug("Queue statistics are not there for now.", unavailable);
        }
    }

    private void addGauges(String queue) {
        if (known.add(queue)) {
            depth(queue, "ready", QueueStats::ready);
            depth(queue, "sleeping", QueueStats::sleeping);
            depth(queue, "running", QueueStats::running);
            depth(queue, "paused", QueueStats::paused);
            Gauge.builder("steadwork.queue.oldest", this, gauges -> gauges.value(queue, QueueGauges::age))
                    .description("For how long the oldest ready run has been ready")
                    .baseUnit("seconds")
                    .tags("queue", queue)
                    .strongReference(true)
                    .register(registry);
        }
    }

    private void depth(String queue, String state, ToDoubleFunction<QueueStats> value) {
        Gauge.builder("steadwork.queue.depth", this, gauges -> gauges.value(queue, value))
                .description("How many runs have not ended")
                .tags(Tags.of("queue", queue, "state", state))
                .strongReference(true)
                .register(registry);
    }

    private static double age(QueueStats queue) {
        var age = queue.oldestReady();
        return age == null ? 0 : age.toMillis() / 1000.0;
    }

    private synchronized double value(String queue, ToDoubleFunction<QueueStats> value) {
        refresh();
        @Nullable QueueStats found = stats.get(queue);
        if (!reachable) {
            return Double.NaN;
        }
        return found == null ? 0 : value.applyAsDouble(found);
    }
}
