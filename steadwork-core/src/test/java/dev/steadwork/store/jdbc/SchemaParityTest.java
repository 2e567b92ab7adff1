package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.testing.Proves;
import dev.steadwork.testing.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Both databases have the same tables with the same columns, so that statements can be shared. */
class SchemaParityTest {
    @Test
    @Proves({"STORE-1", "STORE-2"})
    void both_databases_have_the_same_tables_and_columns() throws SQLException {
        var postgres = columns(TestDatabase.POSTGRES, "steadwork", "");
        var sqlite = columns(TestDatabase.SQLITE, null, "steadwork_");

        assertThat(sqlite).isEqualTo(postgres);
        assertThat(sqlite).containsKeys("run", "step", "step_attempt", "definition", "worker", "schema_version");
    }

    @Test
    @Proves("STORE-2")
    void both_databases_have_the_same_indexes() throws SQLException {
        assertThat(indexes(TestDatabase.SQLITE, null, "steadwork_run", "steadwork_"))
                .containsAll(indexes(TestDatabase.POSTGRES, "steadwork", "run", ""));
    }

    /** The largest sample of a column, or of what an index computes, is that of its table: one that was forgotten would make ANALYZE ten times as slow. */
    @Test
    @Proves("STORE-2")
    void no_column_of_the_hot_tables_asks_for_a_large_sample() throws SQLException {
        var sql = """
                SELECT a.attname
                  FROM pg_attribute AS a
                 WHERE a.attrelid IN (CAST('steadwork.run' AS regclass), CAST('steadwork.step' AS regclass))
                   AND a.attnum > 0
                   AND NOT a.attisdropped
                   AND a.attstattarget IS DISTINCT FROM 10
                UNION ALL
                SELECT CAST(i.indexrelid AS regclass) || ' ' || a.attname
                  FROM pg_index AS i
                  JOIN pg_attribute AS a ON a.attrelid = i.indexrelid
                 WHERE i.indrelid IN (CAST('steadwork.run' AS regclass), CAST('steadwork.step' AS regclass))
                   AND i.indkey[a.attnum - 1] = 0
                   AND a.attstattarget IS DISTINCT FROM 10
                """;
        var others = new TreeSet<String>();
        try (var connection = DriverManager.getConnection(migrated(TestDatabase.POSTGRES));
                var rows = connection.createStatement().executeQuery(sql)) {
            while (rows.next()) {
                others.add(rows.getString(1));
            }
        }
        assertThat(others).isEmpty();
    }

    /** What is equal in all rows, the shard, would be compared on every level of the index before what differs. */
    @ParameterizedTest
    @ValueSource(strings = {"run", "step"})
    @Proves("STORE-2")
    void the_keys_of_the_hot_tables_begin_with_the_run(String table) throws SQLException {
        var columns = new TreeMap<Integer, String>();
        try (var connection = DriverManager.getConnection(migrated(TestDatabase.POSTGRES));
                var rows = connection.getMetaData().getPrimaryKeys(null, "steadwork", table)) {
            while (rows.next()) {
                columns.put(rows.getInt("KEY_SEQ"), rows.getString("COLUMN_NAME"));
            }
        }
        assertThat(columns.values()).startsWith("run_id", "shard");
    }

    /** Table names without their prefix, each with its columns and whether they may be null. */
    private static Map<String, Map<String, Boolean>> columns(TestDatabase database, String schema, String prefix)
            throws SQLException {
        var tables = new TreeMap<String, Map<String, Boolean>>();
        try (var connection = DriverManager.getConnection(migrated(database));
                var rows = connection.getMetaData().getColumns(null, schema, prefix + "%", "%")) {
            while (rows.next()) {
                var table = rows.getString("TABLE_NAME");
                if (table.startsWith(prefix) && isTable(connection, schema, table)) {
                    tables.computeIfAbsent(table.substring(prefix.length()), name -> new TreeMap<>())
                            .put(rows.getString("COLUMN_NAME"), rows.getInt("NULLABLE") == 1);
                }
            }
        }
        return tables;
    }

    private static boolean isTable(Connection connection, String schema, String table) throws SQLException {
        try (var rows = connection.getMetaData().getTables(null, schema, table, new String[] {"TABLE"})) {
            return rows.next();
        }
    }

    private static TreeSet<String> indexes(TestDatabase database, String schema, String table, String prefix)
            throws SQLException {
        var names = new TreeSet<String>();
        try (var connection = DriverManager.getConnection(migrated(database));
                var rows = connection.getMetaData().getIndexInfo(null, schema, table, false, false)) {
            while (rows.next()) {
                var name = rows.getString("INDEX_NAME");
                if (name.startsWith(prefix) && !name.endsWith("_pkey")) {
                    names.add(name.substring(prefix.length()));
                }
            }
        }
        assertThat(names).isNotEmpty();
        return names;
    }

    private static String migrated(TestDatabase database) {
        var url = database.newUrl();
        try (var store = JdbcStores.open(Configs.of(url))) {
            store.migrate();
        }
        return url;
    }
}
