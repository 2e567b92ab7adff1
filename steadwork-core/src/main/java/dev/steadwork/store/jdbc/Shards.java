package dev.steadwork.store.jdbc;

import dev.steadwork.RunId;

/** Which shard a run lives in: the one place that knows how slots are spread over shards. */
final class Shards {
    static final int SLOTS = 1024;
    static final int COUNT = 1;

    /** What statements over all runs look at, as long as there is one shard. Of the column's type: no comparison of two types. */
    static final short ONLY = 0;

    private Shards() {}

    static int of(RunId run) {
        return run.slot() * COUNT / SLOTS;
    }
}
