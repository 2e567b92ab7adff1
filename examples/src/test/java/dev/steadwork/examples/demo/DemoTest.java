package dev.steadwork.examples.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(240)
class DemoTest {
    @TempDir
    Path folder;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

    @Test
    void nothing_is_lost_or_repeated_when_the_worker_is_killed() {
        int exit = demo("--orders", "3");

        assertThat(errors.toString(UTF_8)).isEmpty();
        assertThat(exit).as(printed.toString(UTF_8)).isZero();
        assertThat(printed.toString(UTF_8))
                .containsSubsequence("3 orders accepted", "worker A starts", "KILL -9", "worker B starts", "TAKE-OVER")
                .contains("failed, will be tried again")
                .containsPattern("orders completed +3")
                .containsPattern("orders lost +0")
                .containsPattern("executed again after checkpoint +0")
                .contains("Nothing was lost");
    }

    @Test
    void a_demo_that_was_killed_itself_is_finished_by_the_next_one() throws Exception {
        var database = folder.resolve("orders.db");
        var first = process("--db", database.toString(), "--orders", "2");
        await().atMost(60, TimeUnit.SECONDS).until(() -> attempts(database).contains("\tDONE\t"));
        first.destroyForcibly().waitFor();

        int exit = demo("--db", database.toString());

        assertThat(errors.toString(UTF_8)).isEmpty();
        assertThat(exit).as(printed.toString(UTF_8)).isZero();
        assertThat(printed.toString(UTF_8))
                .contains("2 orders left unfinished")
                .containsPattern("orders accepted +2")
                .containsPattern("orders completed +2");
    }

    @Test
    void a_bad_option_ends_with_64_and_says_why() {
        assertThat(demo("--orders", "none")).isEqualTo(64);
        assertThat(errors.toString(UTF_8)).contains("--orders needs a number").contains("--help");
    }

    @Test
    void a_file_that_is_no_database_is_refused() throws IOException {
        var file = Files.writeString(folder.resolve("notes.txt"), "this is no database, it is a text ".repeat(100));

        assertThat(demo("--db", file.toString())).isEqualTo(1);
        assertThat(errors.toString(UTF_8)).startsWith("steadwork demo: ").contains("notes.txt");
    }

    @Test
    void help_names_every_option() {
        assertThat(demo("--help")).isZero();
        assertThat(printed.toString(UTF_8)).contains("--orders", "--db", "--keep", "--help");
    }

    private int demo(String... args) {
        return Demo.run(
                Terminal.plain(new PrintStream(printed, true, UTF_8)), new PrintStream(errors, true, UTF_8), args);
    }

    private Process process(String... args) throws IOException {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var command =
                new ArrayList<>(List.of(java, "-cp", System.getProperty("java.class.path"), Demo.class.getName()));
        command.addAll(List.of(args));
        return new ProcessBuilder(command)
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start();
    }

    private static String attempts(Path database) throws IOException {
        var log = database.resolveSibling("orders.db-attempts.log");
        return Files.exists(log) ? Files.readString(log) : "";
    }
}
