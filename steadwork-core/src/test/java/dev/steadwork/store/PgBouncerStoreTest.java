package dev.steadwork.store;

import dev.steadwork.testing.PgBouncer;
import dev.steadwork.testing.TestDatabase;
import org.junit.jupiter.api.condition.EnabledIf;

/** Nothing is kept in a session of the database, so that any connection may be that of any transaction. */
@EnabledIf("dev.steadwork.testing.PgBouncer#isThere")
class PgBouncerStoreTest extends StoreContract implements OpenClaimRules {
    PgBouncerStoreTest() {
        // For the application's own connections; those of the store do not prepare without LISTEN.
        super(PgBouncer.through(TestDatabase.POSTGRES.newUrl()) + "&prepareThreshold=0", false);
    }

    @Override
    public String table(String name) {
        return "steadwork." + name;
    }
}
