package dev.steadwork.examples.demo;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What the demo was asked to do.
 *
 * @param database the SQLite file; null means: one in a temporary folder
 * @param orders how many orders to place
 * @param keep whether the temporary folder stays
 * @param help whether only the usage is wanted
 */
record DemoOptions(@Nullable Path database, int orders, boolean keep, boolean help) {
    static final String USAGE = """
            Usage: ./steadwork demo [options]

            Places orders, kills the worker process that handles them with kill -9 in the
            middle of a step, lets a second one finish, and counts what was lost or repeated.

              --orders N   how many orders, 1 to 500 (default 8)
              --db FILE    keep everything in this SQLite file; if an earlier demo left orders
                           unfinished there, finish them and place no new ones (default:
                           a temporary file)
              --keep       do not delete the temporary file
              --help       show this text

            The exit code is 0 if every order was completed and no finished step was repeated.
            """;

    private static final int MAX_ORDERS = 500;

    DemoOptions {
        if (orders < 1 || orders > MAX_ORDERS) {
            throw new IllegalArgumentException("--orders is %d; allowed is 1 to %d".formatted(orders, MAX_ORDERS));
        }
        if (database != null && Files.isDirectory(database)) {
            throw new IllegalArgumentException("--db %s is a folder; give a file".formatted(database));
        }
        if (database != null && !Files.isDirectory(folderOf(database))) {
            throw new IllegalArgumentException(
                    "--db %s: there is no folder %s; create it first".formatted(database, folderOf(database)));
        }
    }

    /** Reads the command line; an {@link IllegalArgumentException} says what is wrong with it. */
    static DemoOptions parse(String... args) {
        Path database = null;
        int orders = 8;
        boolean keep = false;
        boolean help = false;
        for (int i = 0; i < args.length; i++) {
            var name = args[i].replaceFirst("=.*", "");
            switch (name) {
                case "--db" -> {
                    database = path(name, value(args, i));
                    i += args[i].equals(name) ? 1 : 0;
                }
                case "--orders" -> {
                    orders = number(name, value(args, i));
                    i += args[i].equals(name) ? 1 : 0;
                }
                case "--keep" -> keep = flag(args[i], name);
                case "--help", "-h" -> help = flag(args[i], name);
                default -> throw new IllegalArgumentException("unknown option '%s'".formatted(args[i]));
            }
        }
        return new DemoOptions(database, orders, keep, help);
    }

    /** The value of an option: behind its equals sign, or the next argument. */
    private static String value(String[] args, int index) {
        int equals = args[index].indexOf('=');
        if (equals >= 0) {
            return args[index].substring(equals + 1);
        }
        if (index + 1 == args.length) {
            throw new IllegalArgumentException("%s needs a value".formatted(args[index]));
        }
        return args[index + 1];
    }

    private static boolean flag(String given, String name) {
        if (!given.equals(name)) {
            throw new IllegalArgumentException("%s takes no value".formatted(name));
        }
        return true;
    }

    private static int number(String name, String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException notANumber) {
            throw new IllegalArgumentException("%s needs a number, not '%s'".formatted(name, text), notANumber);
        }
    }

    private static Path path(String name, String text) {
        if (text.isBlank() || text.startsWith("--")) {
            throw new IllegalArgumentException("%s needs a file, not '%s'".formatted(name, text));
        }
        try {
            return Path.of(text).toAbsolutePath().normalize();
        } catch (InvalidPathException invalid) {
            throw new IllegalArgumentException("%s: '%s' is not a file name".formatted(name, text), invalid);
        }
    }

    private static Path folderOf(Path file) {
        var folder = file.toAbsolutePath().getParent();
        return folder == null ? file : folder;
    }
}
