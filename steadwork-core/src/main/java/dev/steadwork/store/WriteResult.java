package dev.steadwork.store;

/** The answer to a {@link Write}. */
public sealed interface WriteResult permits TriggerResult, Ack {}
