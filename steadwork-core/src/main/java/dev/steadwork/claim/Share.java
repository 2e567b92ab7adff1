package dev.steadwork.claim;

import dev.steadwork.WorkerBuilder;
import dev.steadwork.Workflow;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The types that one claim asks for: all that have no limit and the same lease share one, a limited type has its own.
 *
 * @param limitedType the type whose limit bounds this claim; null if none does
 */
record Share(
        List<String> types,
        List<String> typePrefixes,
        Workflow.Lease lease,
        @Nullable String limitedType) {

    static List<Share> of(WorkerBuilder.Spec spec, Workflow.Lease defaultLease) {
        if (!spec.typePrefixes().isEmpty()) {
            return List.of(new Share(List.of(), List.copyOf(spec.typePrefixes()), defaultLease, null));
        }
        var shares = new ArrayList<Share>();
        Map<Workflow.Lease, List<String>> unlimited = new LinkedHashMap<>();
        for (var handling : spec.handlers().values()) {
            var type = handling.workflow().name();
            var own = handling.workflow().options().lease();
            var lease = own == null ? defaultLease : own;
            if (spec.limits().containsKey(type)) {
                shares.add(new Share(List.of(type), List.of(), lease, type));
            } else {
                unlimited.computeIfAbsent(lease, l -> new ArrayList<>()).add(type);
            }
        }
        unlimited.forEach((lease, types) -> shares.add(new Share(types, List.of(), lease, null)));
        return shares;
    }
}
