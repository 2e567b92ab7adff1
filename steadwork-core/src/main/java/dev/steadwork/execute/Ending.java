package dev.steadwork.execute;

import dev.steadwork.store.RunEnd;

/** The last write of a run that this process executes, for those who wait for its end in the same process. */
public interface Ending extends AutoCloseable {
    void stored(RunEnd end);

    /** The write is over, stored or not. */
    @Override
    default void close() {}
}
