package dev.steadwork.architecture;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.properties.HasAnnotations;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.steadwork.testing.Proves;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

/** Holds {@code docs/guarantees.md} and the tests against each other: a promise without a test is none. */
class GuaranteesTest {
    private static final Pattern PROMISE = Pattern.compile("\\| ([A-Z]+-?\\d+) \\|.*\\|([^|]*)\\|");
    private static final Pattern TEST_CLASS = Pattern.compile("`(\\w+)`");

    /** By id, the test classes that the document names. */
    private static final Map<String, Set<String>> PROMISED = promises();

    /** By id, the test classes that name it. */
    private static final Map<String, Set<String>> PROVED = proofs();

    @Test
    void every_promise_has_a_test() {
        assertThat(PROVED.keySet()).containsAll(PROMISED.keySet());
    }

    @Test
    void every_id_that_a_test_names_is_a_promise() {
        assertThat(PROMISED.keySet()).containsAll(PROVED.keySet());
    }

    @Test
    void the_tests_named_beside_a_promise_prove_it() {
        assertThat(PROMISED).isNotEmpty().allSatisfy((id, tests) -> {
            assertThat(tests).as("tests named for " + id).isNotEmpty();
            assertThat(PROVED.getOrDefault(id, Set.of())).as("tests of " + id).containsAll(tests);
        });
    }

    private static Map<String, Set<String>> promises() {
        var promises = new LinkedHashMap<String, Set<String>>();
        lines(projectFile("docs/guarantees.md"))
                .map(PROMISE::matcher)
                .filter(line -> line.matches())
                .forEach(line -> assertThat(promises.put(line.group(1), testClasses(line.group(2))))
                        .as("an earlier line of " + line.group(1))
                        .isNull());
        return promises;
    }

    private static Set<String> testClasses(String column) {
        return TEST_CLASS.matcher(column).results().map(name -> name.group(1)).collect(Collectors.toSet());
    }

    private static Map<String, Set<String>> proofs() {
        return new ClassFileImporter()
                .withImportOption(new ImportOption.OnlyIncludeTests()).importPackages("dev.steadwork").stream()
                        .filter(test -> !test.isAnnotatedWith(Disabled.class))
                        .flatMap(GuaranteesTest::proofsIn)
                        .collect(groupingBy(
                                Proof::id, TreeMap::new, mapping(Proof::testClass, toCollection(TreeSet::new))));
    }

    private static Stream<Proof> proofsIn(JavaClass test) {
        return Stream.<HasAnnotations<?>>concat(Stream.of(test), test.getMethods().stream())
                .filter(member -> !member.isAnnotatedWith(Disabled.class))
                .flatMap(member -> idsOn(member).map(id -> new Proof(id, test.getSimpleName())));
    }

    private static Stream<String> idsOn(HasAnnotations<?> member) {
        return member.isAnnotatedWith(Proves.class)
                ? Arrays.stream(member.getAnnotationOfType(Proves.class).value())
                : Stream.empty();
    }

    private record Proof(String id, String testClass) {}

    /** Tests run in the directory of their module, or in the project's own. */
    private static Path projectFile(String name) {
        for (var directory = Path.of("").toAbsolutePath(); directory != null; directory = directory.getParent()) {
            if (Files.exists(directory.resolve(name))) {
                return directory.resolve(name);
            }
        }
        throw new AssertionError("There is no " + name + " in the project.");
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
