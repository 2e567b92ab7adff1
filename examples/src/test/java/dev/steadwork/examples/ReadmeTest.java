package dev.steadwork.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What people paste from the documentation is what the tests compile and run. */
class ReadmeTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern JAVA_BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("]\\(([^)#:]+)[^)]*\\)");

    @Test
    void the_quickstart_of_the_readme_is_the_example() throws IOException {
        var block = JAVA_BLOCK.matcher(Files.readString(ROOT.resolve("README.md")));

        assertThat(block.find()).isTrue();
        assertThat(block.group(1)).isEqualTo(withoutPackageAndJavadoc("Quickstart.java"));
    }

    @Test
    void the_class_of_the_quickstart_has_15_lines_of_code() throws IOException {
        var code = withoutPackageAndJavadoc("Quickstart.java")
                .lines()
                .filter(line -> !line.isBlank() && !line.startsWith("import "));

        assertThat(code).hasSize(15);
    }

    private static String withoutPackageAndJavadoc(String file) throws IOException {
        var source =
                Files.readString(Path.of("src/main/java/dev/steadwork/examples").resolve(file));
        return source.replaceFirst("package .*;\n\n", "").replaceFirst("/\\*\\*.*\\*/\n", "");
    }
}
