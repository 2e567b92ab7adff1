package dev.steadwork.claim;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * What a worker claims from, one after the other: all queues without a limit together, every limited queue for itself. Who
 * goes first changes from round to round, so that none takes all slots for good.
 */
final class Turns {
    private int round;

    /** @param limited whether the turn is that of one limited queue */
    record Turn(List<String> queues, boolean limited) {}

    List<Turn> next(List<String> queues, Set<String> limited) {
        if (Collections.disjoint(limited, queues)) {
            return List.of(new Turn(queues, false));
        }
        var turns = new ArrayList<Turn>();
        var others = queues.stream().filter(queue -> !limited.contains(queue)).toList();
        if (!others.isEmpty()) {
            turns.add(new Turn(others, false));
        }
        queues.stream()
                .filter(limited::contains)
                .distinct()
                .forEach(queue -> turns.add(new Turn(List.of(queue), true)));
        round = Math.floorMod(round + 1, turns.size());
        Collections.rotate(turns, round);
        return turns;
    }
}
