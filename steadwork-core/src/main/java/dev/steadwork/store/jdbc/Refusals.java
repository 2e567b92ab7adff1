package dev.steadwork.store.jdbc;

import dev.steadwork.InvalidArgument;
import dev.steadwork.store.NewRun;

/** Why writes are refused as a whole. */
final class Refusals {
    private Refusals() {}

    static InvalidArgument child(NewRun child) {
        return new InvalidArgument(
                "Workflow %s is not registered in namespace %s, so no child of it can be started. Start a worker that handles it, or call steadwork.register(...), then retry the run."
                        .formatted(child.type(), child.namespace()));
    }
}
