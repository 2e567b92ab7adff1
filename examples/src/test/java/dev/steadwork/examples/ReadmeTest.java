package dev.steadwork.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What people paste from the documentation is what the tests compile and run, and its links lead somewhere. */
class ReadmeTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern JAVA_BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern RELATIVE_LINK = Pattern.compile("]\\(([^):#]+)(#[^)]*)?\\)");

    @Test
    void the_quickstart_of_the_readme_is_the_example() throws IOException {
        assertThat(firstJavaBlock("README.md")).isEqualTo(pasteable("Quickstart.java"));
    }

    @Test
    void the_program_of_the_quickstart_page_is_the_example() throws IOException {
        assertThat(firstJavaBlock("docs/quickstart.md")).isEqualTo(pasteable("Checkout.java"));
    }

    @Test
    void the_class_of_the_readme_has_15_lines_of_code() throws IOException {
        var code = pasteable("Quickstart.java").lines().filter(line -> !line.isBlank() && !line.startsWith("import "));

        assertThat(code).hasSize(15);
    }

    @Test
    void the_readme_lists_every_example() throws IOException {
        var readme = Files.readString(ROOT.resolve("README.md"));

        try (var sources = Files.list(Path.of("src/main/java/dev/steadwork/examples"))) {
            assertThat(sources.map(source -> source.getFileName().toString())
                            .filter(name -> name.endsWith("Example.java")))
                    .isNotEmpty()
                    .allSatisfy(name -> assertThat(readme).contains("/" + name + ")"));
        }
    }

    static Stream<Path> pages() throws IOException {
        try (var docs = Files.walk(ROOT.resolve("docs"))) {
            var pages = docs.filter(file -> file.toString().endsWith(".md")).toList();
            return Stream.concat(
                    Stream.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md").map(ROOT::resolve), pages.stream());
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void every_relative_link_leads_to_a_file(Path page) throws IOException {
        assertThat(relativeLinks(page))
                .allSatisfy(link -> assertThat(page.resolveSibling(link)).exists());
    }

    private static List<String> relativeLinks(Path page) throws IOException {
        return RELATIVE_LINK
                .matcher(Files.readString(page))
                .results()
                .map(link -> link.group(1))
                .toList();
    }

    private static String firstJavaBlock(String page) throws IOException {
        var block = JAVA_BLOCK.matcher(Files.readString(ROOT.resolve(page)));
        assertThat(block.find()).isTrue();
        return block.group(1);
    }

    /** The example as the documentation shows it: without its package and Javadoc. */
    private static String pasteable(String example) throws IOException {
        var source =
                Files.readString(Path.of("src/main/java/dev/steadwork/examples").resolve(example));
        return source.replaceFirst("package .*;\n\n", "").replaceFirst("/\\*\\*.*\\*/\n", "");
    }
}
