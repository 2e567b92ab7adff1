package dev.steadwork.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TestDatabaseTest {
    @ParameterizedTest
    @EnumSource
    void a_new_database_answers(TestDatabase database) throws SQLException {
        assertThat(selectOne(database.newUrl())).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void each_new_database_has_its_own_url(TestDatabase database) {
        var first = database.newUrl();
        var second = database.newUrl();

        assertThat(second).isNotEqualTo(first);
    }

    @Test
    void a_dropped_postgres_database_is_gone() {
        var url = PostgresServer.newDatabase();

        PostgresServer.dropDatabase(url);

        assertThatThrownBy(() -> selectOne(url)).isInstanceOf(SQLException.class);
    }

    private static int selectOne(String url) throws SQLException {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT 1")) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
