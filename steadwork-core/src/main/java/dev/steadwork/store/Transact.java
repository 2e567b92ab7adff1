package dev.steadwork.store;

import java.sql.Connection;

/** What a transactional step does: the application's SQL, and the outcome to be kept with it. */
@FunctionalInterface
public interface Transact {
    StepRecord run(Connection connection) throws Exception;

    /** The application's code failed; everything was rolled back. */
    final class Failed extends Exception {
        public Failed(Throwable cause) {
            super(cause);
        }
    }
}
