package dev.steadwork.store;

import dev.steadwork.testing.TestDatabase;

class PostgresStoreTest extends StoreContract implements OpenClaimRules {
    PostgresStoreTest() {
        super(TestDatabase.POSTGRES);
    }

    @Override
    public String table(String name) {
        return "steadwork." + name;
    }
}
