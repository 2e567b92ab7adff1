package dev.steadwork.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * No SQL is built from input. What a look at the source can honestly say: every literal that begins like a statement is whole,
 * nothing is joined to it or formatted into it. The name of the schema is put in by one method, which checks it.
 */
class SqlTextTest {
    private static final Path SOURCES = Path.of("src", "main", "java", "dev", "steadwork");
    private static final Pattern LITERAL = Pattern.compile(
            "\"\"\"\\n(?<block>.*?)\"\"\"|\"(?<line>(?:[^\"\\\\\\n]|\\\\.)*)\"|//[^\\n]*|/\\*.*?\\*/|'(?:[^'\\\\]|\\\\.)+'",
            Pattern.DOTALL);
    private static final Pattern STATEMENT = Pattern.compile(
            "\\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|CREATE|ALTER|DROP|LISTEN|UNLISTEN|NOTIFY|SET|PRAGMA|BEGIN|ANALYZE|VACUUM)\\b(?s:.*)");
    private static final Pattern CHANGED_AFTER =
            Pattern.compile("\\s*(\\+|\\.(formatted|concat|replace\\w*|repeat|transform)\\().*", Pattern.DOTALL);

    /** The channel is made of the checked name of the schema; the driver has no parameters for LISTEN. */
    private static final List<String> KNOWN = List.of("NotificationListener: LISTEN ");

    @Test
    void statements_are_whole_literals() throws IOException {
        var built = new ArrayList<String>();
        int statements = 0;
        for (var file : sources()) {
            var text = Files.readString(file);
            var literals = LITERAL.matcher(text);
            while (literals.find()) {
                var literal = literals.group("block") != null ? literals.group("block") : literals.group("line");
                if (literal == null || !STATEMENT.matcher(literal).matches() || isForPeople(literal)) {
                    continue;
                }
                statements++;
                boolean joined = CHANGED_AFTER
                                .matcher(text.substring(literals.end()))
                                .matches()
                        || text.substring(0, literals.start()).stripTrailing().endsWith("+");
                if (joined) {
                    built.add(name(file) + ": " + literal);
                }
            }
        }

        assertThat(statements).as("statements that were looked at").isGreaterThan(200);
        assertThat(built).isEqualTo(KNOWN);
    }

    @Test
    void no_builder_of_text_touches_statements() throws IOException {
        var suspects = Pattern.compile(
                "(createQuery|createUpdate|createScript|prepareBatch|prepareStatement|executeQuery|executeUpdate)"
                        + "\\((?:[^()]|\\([^()]*\\))*?(\\+ |\\.formatted\\(|String\\.format)");
        for (var file : sources()) {
            assertThat(suspects.matcher(Files.readString(file)).results().map(m -> m.group()))
                    .as(name(file))
                    .isEmpty();
        }
    }

    /** Advice such as "VACUUM x now." is a sentence. */
    private static boolean isForPeople(String literal) {
        return literal.strip().endsWith(".") || literal.strip().endsWith(":");
    }

    private static List<Path> sources() throws IOException {
        try (var files = Files.walk(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }

    private static String name(Path file) {
        return file.getFileName().toString().replace(".java", "");
    }
}
