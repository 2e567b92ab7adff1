package dev.steadwork.store;

import dev.steadwork.Workflow;

/** A workflow type as it is recorded, with its defaults. */
public record Definition(String type, Workflow.Options options) {
    public static Definition of(Workflow<?, ?> workflow) {
        return new Definition(workflow.name(), workflow.options());
    }
}
