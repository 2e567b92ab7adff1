package dev.steadwork.input;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import dev.steadwork.Steadwork;
import dev.steadwork.SteadworkException;
import dev.steadwork.Webhook;
import dev.steadwork.testing.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Passwords stay out of messages, of the causes below them, and of what is logged meanwhile. */
@Isolated("reads what all of the process writes to its error stream")
class SecretsTest {
    private static final String SECRET = "s3cr3t-p4ss";

    @Test
    void no_error_at_opening_tells_a_password() {
        var places = new LinkedHashMap<String, Supplier<Steadwork.Builder>>();
        var nowhere = "jdbc:postgresql://localhost:1/app?connectTimeout=1";
        places.put("unreachable, in the URL", () -> at(nowhere + "&user=app&password=" + SECRET));
        places.put("unreachable, apart", () -> at(nowhere).user("app").password(SECRET));
        places.put("no such host", () -> at("jdbc:postgresql://no-such-host.invalid/app?user=a&password=" + SECRET));
        places.put("wrong user", () -> at(postgres("nobody") + "&password=" + SECRET));
        places.put("wrong user, apart", () -> at(postgres("nobody")).password(SECRET));
        places.put(
                "no such database",
                () -> at(postgres("postgres").replaceFirst("/steadwork_\\d+", "/missing") + "&password=" + SECRET));
        places.put("before the host", () -> at("jdbc:postgresql://app:" + SECRET + "@localhost:1/app"));
        places.put("a bad port", () -> at("jdbc:postgresql://localhost:port/app?password=" + SECRET));
        places.put("a bad parameter", () -> at("jdbc:postgresql://localhost:1/app?socketTimeout=x&password=" + SECRET));
        places.put("another kind", () -> at("jdbc:mysql://app:" + SECRET + "@localhost/app"));
        places.put("no JDBC", () -> at("postgres://app:" + SECRET + "@localhost/app"));
        places.put("SQLite", () -> at("jdbc:sqlite:/no/such/folder/app.db?password=" + SECRET));
        places.put("a data source", () -> Steadwork.builder().dataSource(dataSource(nowhere)));

        assertThat(places)
                .allSatisfy(
                        (place, settings) -> tellsNothing(() -> settings.get().open()));
    }

    @Test
    void the_settings_of_a_webhook_do_not_tell_its_secret() {
        assertThat(Webhook.to("https://example.com/hook", SECRET.repeat(3)).toString())
                .doesNotContain(SECRET);
        tellsNothing(() -> Webhook.to("https://app:" + SECRET + "@example.com/hook", "a secret that signs"));
        tellsNothing(() -> Webhook.to("ftp://app:" + SECRET + "@example.com/hook", "a secret that signs"));
        tellsNothing(() -> Webhook.to("https://exa mple.com/?token=" + SECRET, "a secret that signs"));
    }

    private static void tellsNothing(ThrowingCallable call) {
        var original = System.err;
        var log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, UTF_8));
        Throwable error;
        try {
            error = catchThrowable(call);
        } finally {
            System.setErr(original);
        }
        assertThat(error).isInstanceOf(SteadworkException.class);
        var all = new StringWriter();
        error.printStackTrace(new PrintWriter(all));
        assertThat(all.toString()).as("message and causes").doesNotContain(SECRET);
        assertThat(log.toString(UTF_8)).as("log").doesNotContain(SECRET);
    }

    private static Steadwork.Builder at(String url) {
        return Steadwork.builder().url(url);
    }

    private static String postgres(String user) {
        return TestDatabase.POSTGRES.newUrl().replace("user=postgres", "user=" + user);
    }

    private static HikariDataSource dataSource(String url) {
        var pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setUsername("app");
        pool.setPassword(SECRET);
        pool.setConnectionTimeout(1_000);
        pool.setInitializationFailTimeout(-1);
        return pool;
    }
}
