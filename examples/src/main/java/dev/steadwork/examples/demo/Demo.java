package dev.steadwork.examples.demo;

import dev.steadwork.SteadworkException;
import java.io.IOException;
import java.io.PrintStream;

/** Shows what the library is for: a worker process is killed in the middle of its work, and nothing is lost. */
public final class Demo {
    private static final int FAILED = 1;
    private static final int BAD_USAGE = 64;

    private Demo() {}

    public static void main(String[] args) {
        System.exit(run(Terminal.standard(System.getenv()), System.err, args));
    }

    /** Runs the demo and returns the exit code. */
    static int run(Terminal terminal, PrintStream errors, String... args) {
        try {
            var options = DemoOptions.parse(args);
            if (options.help()) {
                terminal.out().print(DemoOptions.USAGE);
                return 0;
            }
            return run(options, terminal) ? 0 : FAILED;
        } catch (IllegalArgumentException bad) {
            errors.printf("steadwork demo: %s; see ./steadwork demo --help%n", bad.getMessage());
            return BAD_USAGE;
        } catch (SteadworkException | Story.Broken | IOException broken) {
            errors.printf("steadwork demo: %s%n", broken.getMessage());
            return FAILED;
        }
    }

    private static boolean run(DemoOptions options, Terminal terminal) throws IOException {
        try (var ctrlC = new CtrlC();
                var files = DemoFiles.of(options)) {
            var outcome = tell(options, files, terminal, ctrlC);
            new Summary(outcome, files).print(terminal);
            return outcome.tally().isClean();
        }
    }

    private static Story.Outcome tell(DemoOptions options, DemoFiles files, Terminal terminal, CtrlC ctrlC) {
        try (var steadwork = Orders.open(files.database());
                var view = View.on(terminal);
                var story = new Story(steadwork, files, view, ctrlC)) {
            return story.tell(options.orders());
        }
    }
}
