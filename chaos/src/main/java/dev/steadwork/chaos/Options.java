package dev.steadwork.chaos;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the runner was asked for.
 *
 * @param faults those that may happen; empty for all that are possible
 * @param keep where the history stays; null for a folder that is deleted unless a rule was broken
 */
record Options(
        boolean sqlite,
        Duration time,
        long seed,
        double rate,
        Duration lease,
        Set<FaultKind> faults,
        Mutant mutant,
        @Nullable Path keep) {

    static final String USAGE = """
            Usage: ./steadwork chaos [options]

              --minutes N     how long, fractions allowed (default 1)
              --seed S        which faults and which load (default: by the clock; it is printed)
              --database D    postgres (default) or sqlite
              --rate R        runs triggered a second (default 200, on sqlite 40)
              --lease D       lease of the workers in seconds (default 3)
              --faults A,B    only these: %s
              --history DIR   where to write the history, and to keep it

            Exit code 0: no rule was broken. 1: one was, and the history stays in the folder that is named. 64: these options.
            """.formatted(String.join(
            ", ",
            EnumSet.allOf(FaultKind.class).stream().map(FaultKind::toString).toList()));

    /** A bad option, with what is allowed. */
    static final class Bad extends RuntimeException {
        Bad(String message) {
            super(message);
        }
    }

    static Options defaults(long seed) {
        return new Options(
                false,
                Duration.ofMinutes(1),
                seed,
                0,
                Duration.ofSeconds(3),
                EnumSet.noneOf(FaultKind.class),
                Mutant.NONE,
                null);
    }

    static Options parse(String[] arguments, long seedOfNow) {
        var options = defaults(seedOfNow);
        for (int i = 0; i < arguments.length; i += 2) {
            if (i + 1 == arguments.length) {
                throw new Bad(arguments[i] + " needs a value, or is no option");
            }
            options = options.with(arguments[i], arguments[i + 1]);
        }
        if (options.sqlite && options.mutant != Mutant.NONE) {
            throw new Bad("--mutant works on postgres only");
        }
        return options.rate > 0 ? options : options.rate(options.sqlite ? 40 : 200);
    }

    private Options with(String name, String value) {
        return switch (name) {
            case "--minutes" -> time(Duration.ofMillis(Math.round(number(name, value, 0.1, 24 * 60) * 60_000)));
            case "--seed" -> seed(whole(name, value));
            case "--rate" -> rate(number(name, value, 1, 100_000));
            case "--lease" -> lease(Duration.ofMillis(Math.round(number(name, value, 1, 60) * 1_000)));
            case "--database" -> sqlite(isSqlite(value));
            case "--faults" -> faults(kinds(value));
            case "--mutant" -> mutant(one(Mutant.class, name, value));
            case "--history" -> keep(Path.of(value));
            default -> throw new Bad(name + " is no option");
        };
    }

    private static boolean isSqlite(String value) {
        return switch (value) {
            case "sqlite" -> true;
            case "postgres" -> false;
            default -> throw new Bad("--database is " + value + "; allowed are postgres and sqlite");
        };
    }

    private static Set<FaultKind> kinds(String value) {
        var kinds = EnumSet.noneOf(FaultKind.class);
        for (var name : value.split(",", -1)) {
            kinds.add(one(FaultKind.class, "--faults", name));
        }
        return kinds;
    }

    private static <E extends Enum<E>> E one(Class<E> type, String option, String value) {
        try {
            return Enum.valueOf(type, value.toUpperCase(Locale.ROOT).replace('-', '_'));
        } catch (IllegalArgumentException unknown) {
            throw new Bad("%s is %s; allowed are %s".formatted(option, value, EnumSet.allOf(type)));
        }
    }

    private static double number(String option, String value, double least, double most) {
        try {
            double number = Double.parseDouble(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException none) {
            // refused below
        }
        throw new Bad("%s is %s; allowed is %s to %s".formatted(option, value, least, most));
    }

    private static long whole(String option, String value) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException none) {
            throw new Bad("%s is %s; it must be a whole number".formatted(option, value));
        }
    }

    Options sqlite(boolean given) {
        return new Options(given, time, seed, rate, lease, faults, mutant, keep);
    }

    Options time(Duration given) {
        return new Options(sqlite, given, seed, rate, lease, faults, mutant, keep);
    }

    Options seed(long given) {
        return new Options(sqlite, time, given, rate, lease, faults, mutant, keep);
    }

    Options rate(double given) {
        return new Options(sqlite, time, seed, given, lease, faults, mutant, keep);
    }

    Options lease(Duration given) {
        return new Options(sqlite, time, seed, rate, given, faults, mutant, keep);
    }

    Options faults(Set<FaultKind> given) {
        return new Options(sqlite, time, seed, rate, lease, given, mutant, keep);
    }

    Options mutant(Mutant given) {
        return new Options(sqlite, time, seed, rate, lease, faults, given, keep);
    }

    Options keep(Path given) {
        return new Options(sqlite, time, seed, rate, lease, faults, mutant, given);
    }
}
