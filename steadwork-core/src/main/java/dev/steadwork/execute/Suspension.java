package dev.steadwork.execute;

import dev.steadwork.store.Write;
import org.jspecify.annotations.Nullable;

/**
 * Leaves the handler because its run is to do something else: sleep, be cancelled, go to another worker. An {@code Error}
 * without a stack trace, so that a handler's {@code catch (Exception e)} cannot eat it.
 */
final class Suspension extends Error {
    private final transient Write.@Nullable Fenced write;

    Suspension(Write.@Nullable Fenced write) {
        super("The run leaves its handler here. Let this pass: it is not a failure.", null, false, false);
        this.write = write;
    }

    /** What is to be stored; null if the run is someone else's and nothing is. */
    Write.@Nullable Fenced write() {
        return write;
    }
}
