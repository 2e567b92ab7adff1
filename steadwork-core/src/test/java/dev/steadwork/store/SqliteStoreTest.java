package dev.steadwork.store;

import dev.steadwork.testing.TestDatabase;

class SqliteStoreTest extends StoreContract {
    SqliteStoreTest() {
        super(TestDatabase.SQLITE);
    }

    @Override
    public String table(String name) {
        return "steadwork_" + name;
    }
}
