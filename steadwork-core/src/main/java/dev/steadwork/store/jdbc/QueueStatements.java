package dev.steadwork.store.jdbc;

/** What is asked about queues, through the indexes of what waits in them, which differ between the databases. */
interface QueueStatements {
    /** From a queue to the next is one step down the index, however many runs the queue has. Parameters: shard, namespace. */
    String selectBusyQueues();

    /**
     * How many runs are in which status and of which type, in parts that each end at the limit. Leases end soon, so what executes is at the front of
     * the timers, before sleepers that may be many. Parameters: shard, namespace, queue, limit.
     */
    String countQueue();

    /** The run that is claimed next. Parameters: shard, namespace, queue. */
    String selectFirst();

    /** How many of the first runs come before one. Parameters: shard, namespace, queue, priority, due, run, limit. */
    String countAhead();
}
