package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.Conflict;
import dev.steadwork.Timeout;
import dev.steadwork.Unauthorized;
import dev.steadwork.Unavailable;
import dev.steadwork.testing.Proves;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** Which of our errors a driver's error becomes: by its codes, never by its words. */
@Proves("STORE-3")
class SqlErrorsTest {
    private static final String DOING = "writing to Postgres at db:5432/app";

    @ParameterizedTest
    @CsvSource({
        "23505, Conflict",
        "23503, InvalidArgument",
        "3D000, InvalidArgument",
        "22021, InvalidArgument",
        "08000, Unavailable",
        "08006, Unavailable",
        "57P01, Unavailable",
        "57P03, Unavailable",
        "53300, Unavailable",
        "40P01, Unavailable",
        "25006, Unavailable",
        "57014, Timeout",
        "28P01, Unauthorized",
        "42501, Unauthorized",
        "42P01, PreconditionFailed",
        "42703, PreconditionFailed",
        "3F000, PreconditionFailed",
        "42601, IllegalStateException"
    })
    void a_state_of_postgres_has_its_error(String state, String error) {
        var translated = SqlErrors.translate(new SQLException("anything", state), DOING);

        assertThat(translated.getClass().getSimpleName()).isEqualTo(error);
        assertThat(translated).hasMessageContaining(DOING);
    }

    @ParameterizedTest
    @CsvSource({
        "SQLITE_BUSY, Unavailable",
        "SQLITE_BUSY_SNAPSHOT, Unavailable",
        "SQLITE_LOCKED, Unavailable",
        "SQLITE_READONLY, Unavailable",
        "SQLITE_IOERR_WRITE, Unavailable",
        "SQLITE_FULL, Unavailable",
        "SQLITE_CANTOPEN, Unavailable",
        "SQLITE_INTERRUPT, Timeout",
        "SQLITE_NOTADB, InvalidArgument",
        "SQLITE_CORRUPT, PreconditionFailed",
        "SQLITE_CONSTRAINT_UNIQUE, Conflict",
        "SQLITE_CONSTRAINT_PRIMARYKEY, Conflict",
        "SQLITE_CONSTRAINT_CHECK, IllegalStateException",
        "SQLITE_ERROR, IllegalStateException"
    })
    void a_code_of_sqlite_has_its_error(SQLiteErrorCode code, String error) {
        var translated = SqlErrors.translate(new SQLiteException("anything", code), DOING);

        assertThat(translated.getClass().getSimpleName()).isEqualTo(error);
        assertThat(translated).hasMessageContaining(DOING);
    }

    @Test
    void a_connection_that_fell_silent_is_a_timeout() {
        var silent = new SQLException("anything", "08006", new SocketTimeoutException());

        assertThat(SqlErrors.translate(silent, DOING)).isInstanceOf(Timeout.class);
    }

    @Test
    void a_pool_without_a_free_connection_is_unavailable() {
        assertThat(SqlErrors.translate(new SQLTransientConnectionException("anything"), DOING))
                .isInstanceOf(Unavailable.class);
        assertThat(SqlErrors.translate(new SQLTransientConnectionException("anything", "28P01"), DOING))
                .as("because the database refuses the user")
                .isInstanceOf(Unauthorized.class);
    }

    @Test
    void the_drivers_error_is_found_behind_a_wrapper_and_kept() {
        var cause = new SQLException("anything", "08006");

        assertThat(SqlErrors.translate(new RuntimeException(cause), DOING))
                .isInstanceOf(Unavailable.class)
                .hasCause(cause);
    }

    @Test
    void our_own_errors_and_faults_of_others_pass_as_they_are() {
        var ours = new Conflict("test");
        var theirs = new IllegalArgumentException("test");

        assertThat(SqlErrors.translate(ours, DOING)).isSameAs(ours);
        assertThat(SqlErrors.translate(theirs, DOING)).isSameAs(theirs);
    }
}
