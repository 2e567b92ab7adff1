package dev.steadwork.examples;

import dev.steadwork.Steadwork;
import dev.steadwork.StepOptions;
import dev.steadwork.TypeRef;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Counts the words of a text: every line in a step of its own, sixteen at a time, then one step adds them up. */
public final class MapReduceExample {
    private static final TypeRef<Map<String, Integer>> COUNTS = new TypeRef<>() {};
    private static final TypeRef<List<String>> LINES = new TypeRef<>() {};

    static final Workflow<List<String>, Map<String, Integer>> COUNT_WORDS =
            Workflow.define("count-words", LINES, COUNTS);

    private static final String TEXT = """
            It was the best of times, it was the worst of times,
            it was the age of wisdom, it was the age of foolishness,
            it was the epoch of belief, it was the epoch of incredulity,
            it was the season of Light, it was the season of Darkness,
            it was the spring of hope, it was the winter of despair,
            we had everything before us, we had nothing before us,
            we were all going direct to Heaven,
            we were all going direct the other way
            """;

    private MapReduceExample() {}

    static Map<String, Integer> countWords(WorkflowContext ctx, List<String> lines) {
        var counted = ctx.map("count", lines, COUNTS, StepOptions.defaults(), MapReduceExample::count);
        return ctx.step("add up", COUNTS, step -> sum(counted));
    }

    private static Map<String, Integer> count(String line) {
        var counts = new TreeMap<String, Integer>();
        for (var word : line.toLowerCase(Locale.ROOT).split("[^a-z]+", 0)) {
            counts.merge(word, 1, Integer::sum);
        }
        return counts;
    }

    private static Map<String, Integer> sum(List<Map<String, Integer>> counted) {
        var sum = new TreeMap<String, Integer>();
        counted.forEach(counts -> counts.forEach((word, n) -> sum.merge(word, n, Integer::sum)));
        return sum;
    }

    public static void main(String[] args) throws IOException {
        try (var steadwork = Steadwork.open(ExampleDatabase.url(args))) {
            steadwork.worker().handle(COUNT_WORDS, MapReduceExample::countWords).start();

            var run = steadwork.workflow(COUNT_WORDS).trigger(TEXT.lines().toList());
            var words = run.future().orTimeout(30, TimeUnit.SECONDS).join();
            System.out.printf("%d steps, %d words%n", run.steps().size(), words.size());
            words.forEach((word, n) -> {
                if (n >= 8) {
                    System.out.printf("%s: %d%n", word, n);
                }
            });
        }
    }
}
