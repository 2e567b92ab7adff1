package dev.steadwork;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the environment leaves to the workers of a process, so that one and the same program serves other queues or types
 * wherever it is started. It narrows what the code says and never adds a type to it.
 */
record WorkerRole(Set<String> queues, Set<String> typePrefixes) {
    static final String QUEUES = "STEADWORK_WORKER_QUEUES";
    static final String TYPE_PREFIXES = "STEADWORK_WORKER_TYPE_PREFIXES";

    private static final Logger log = LoggerFactory.getLogger(WorkerRole.class);

    /** @param environment values by name, null for what is not set */
    static WorkerRole of(UnaryOperator<@Nullable String> environment) {
        return new WorkerRole(names(QUEUES, environment), names(TYPE_PREFIXES, environment));
    }

    private static Set<String> names(String variable, UnaryOperator<@Nullable String> environment) {
        var value = environment.apply(variable);
        if (value == null || value.isBlank()) {
            return Set.of();
        }
        return Arrays.stream(value.split(",", -1))
                .map(name -> Check.name("a name in the environment variable " + variable, name.strip()))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    WorkerBuilder.Spec narrow(WorkerBuilder.Spec spec) {
        if (queues.isEmpty() && typePrefixes.isEmpty()) {
            return spec;
        }
        var leftQueues = queues.isEmpty() ? spec.queues() : common(spec.queues());
        var leftPrefixes = typePrefixes.isEmpty() ? spec.typePrefixes() : longerOnes(spec.typePrefixes());
        boolean nothing = (leftQueues.isEmpty() && !spec.queues().isEmpty())
                || (leftPrefixes.isEmpty() && !spec.typePrefixes().isEmpty());
        var left = spec.serving(nothing ? Map.of() : handlersIn(spec), leftQueues, leftPrefixes);
        if (left.handlers().isEmpty()) {
            log.warn(
                    "Worker {} takes no runs: {}={} and {}={} leave nothing of what it serves.",
                    spec.name(),
                    QUEUES,
                    String.join(",", queues),
                    TYPE_PREFIXES,
                    String.join(",", typePrefixes));
        }
        return left;
    }

    /** A run may be put into any queue at its trigger, so a worker that names none reads all that the role names. */
    private Set<String> common(Set<String> named) {
        return named.isEmpty()
                ? Set.copyOf(queues)
                : named.stream().filter(queues::contains).collect(Collectors.toUnmodifiableSet());
    }

    /** Types that begin with a prefix of the code and with one of the role begin with the longer of the two. */
    private Set<String> longerOnes(Set<String> ofTheCode) {
        var both = new LinkedHashSet<String>();
        for (var one : ofTheCode) {
            for (var other : typePrefixes) {
                if (one.startsWith(other)) {
                    both.add(one);
                } else if (other.startsWith(one)) {
                    both.add(other);
                }
            }
        }
        return Set.copyOf(both);
    }

    private Map<String, WorkerBuilder.Handling<?, ?>> handlersIn(WorkerBuilder.Spec spec) {
        if (typePrefixes.isEmpty()) {
            return spec.handlers();
        }
        var left = new LinkedHashMap<String, WorkerBuilder.Handling<?, ?>>();
        spec.handlers().forEach((type, handling) -> {
            if (typePrefixes.stream().anyMatch(type::startsWith)) {
                left.put(type, handling);
            }
        });
        return Map.copyOf(left);
    }
}
