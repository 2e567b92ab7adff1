package dev.steadwork.examples.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;

/** Where the demo prints to, and what can be printed there. */
final class Terminal {
    private static final Size USUAL = new Size(80, 24);
    private static final long MEASURE_NANOS = 500_000_000;
    private static final String NOT_A_TERMINAL = "none";
    /** Asks about the standard output that is inherited; the answer comes by the error stream. */
    private static final String QUESTION = "if [ -t 1 ]; then stty size <&1 >&2; else echo none >&2; fi";

    private final PrintStream out;
    private final boolean live;
    private final boolean colour;
    private final boolean unicode;
    private Size size = USUAL;
    private long measuredNanos = System.nanoTime() - MEASURE_NANOS;

    record Size(int columns, int rows) {}

    private Terminal(PrintStream out, boolean live, boolean colour, boolean unicode) {
        this.out = out;
        this.live = live;
        this.colour = colour;
        this.unicode = unicode;
    }

    /** The standard output of this process. */
    static Terminal standard(Map<String, String> environment) {
        boolean live = !environment.getOrDefault("TERM", "dumb").equals("dumb") && !ask().equals(NOT_A_TERMINAL);
        boolean colour = live && environment.getOrDefault("NO_COLOR", "").isEmpty();
        boolean unicode = live && isUtf8(environment);
        var charset = unicode ? UTF_8 : StandardCharsets.US_ASCII;
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, charset);
        return new Terminal(out, live, colour, unicode);
    }

    /** Something that is no terminal: lines are only ever appended. */
    static Terminal plain(PrintStream out) {
        return new Terminal(out, false, false, false);
    }

    private static boolean isUtf8(Map<String, String> environment) {
        for (var name : new String[] {"LC_ALL", "LC_CTYPE", "LANG"}) {
            var value = environment.getOrDefault(name, "");
            if (!value.isEmpty()) {
                return value.toLowerCase(Locale.ROOT).replace("-", "").endsWith("utf8");
            }
        }
        return false;
    }

    private static String ask() {
        try {
            var shell = new ProcessBuilder("sh", "-c", QUESTION)
                    .redirectOutput(Redirect.INHERIT)
                    .start();
            return new String(shell.getErrorStream().readAllBytes(), UTF_8).strip();
        } catch (IOException noShell) {
            return NOT_A_TERMINAL;
        }
    }

    PrintStream out() {
        return out;
    }

    /** Whether what was printed can be printed over. */
    boolean isLive() {
        return live;
    }

    boolean hasColour() {
        return colour;
    }

    boolean hasUnicode() {
        return unicode;
    }

    /** How large it is now; people resize their windows. */
    Size size() {
        if (live && System.nanoTime() - measuredNanos >= MEASURE_NANOS) {
            measuredNanos = System.nanoTime();
            size = parse(ask());
        }
        return size;
    }

    private static Size parse(String answer) {
        var numbers = answer.split(" ", -1);
        try {
            var size = new Size(Integer.parseInt(numbers[1]), Integer.parseInt(numbers[0]));
            return size.columns() > 0 && size.rows() > 0 ? size : USUAL;
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException unknown) {
            return USUAL;
        }
    }
}
