package dev.steadwork.benchmarks.harness;

import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * What the command line asks for.
 *
 * @param peers who takes part; {@code PEER:PART} in that part only
 * @param growthEnds of W9 only the empty and the fullest table
 * @param results where the numbers and the report go
 * @param reportOnly write the report of numbers that are there already
 */
record Options(
        boolean quick,
        int rounds,
        Set<Part> parts,
        Set<String> peers,
        int horizonMinutes,
        List<Long> finished,
        boolean growthEnds,
        Path results,
        boolean reportOnly) {

    private static final int MOST_ROUNDS = 99;
    private static final int MOST_MINUTES = 600;

    static Options parse(List<String> arguments, Path home) {
        return new Reader(arguments).read(home);
    }

    boolean has(Part part) {
        return parts.contains(part);
    }

    /** Those of the part that were chosen, in the part's order. */
    List<String> peersOf(Part part) {
        return part.peers().stream()
                .filter(peer -> peers.contains(peer) || peers.contains(peer + ":" + part.label()))
                .toList();
    }

    Options withPeers(Set<String> chosen) {
        return new Options(quick, rounds, parts, chosen, horizonMinutes, finished, growthEnds, results, reportOnly);
    }

    /** Takes the words one by one. */
    private static final class Reader {
        private final ArrayDeque<String> left;
        private boolean quick;
        private int rounds;
        private Set<Part> parts = EnumSet.complementOf(EnumSet.of(Part.NOSYNC));
        private Set<String> peers = new LinkedHashSet<>(Part.allPeers());
        private int horizonMinutes;
        private boolean growthEnds;
        private boolean reportOnly;
        private String name = DateTimeFormatter.ofPattern("yyyy-MM-dd-HHmm", Locale.ROOT)
                .withZone(ZoneOffset.UTC)
                .format(Instant.now());
        private boolean named;

        Reader(List<String> arguments) {
            this.left = new ArrayDeque<>(arguments);
        }

        Options read(Path home) {
            while (!left.isEmpty()) {
                take(left.pop());
            }
            if (reportOnly && !named) {
                throw new UsageError("--report needs the NAME of results that are there already");
            }
            return new Options(
                    quick,
                    rounds > 0 ? rounds : quick ? 1 : 3,
                    parts,
                    peers,
                    horizonMinutes > 0 ? horizonMinutes : quick ? 1 : 10,
                    quick ? List.of(0L, 20_000L, 100_000L) : List.of(0L, 1_000_000L, 5_000_000L),
                    growthEnds,
                    home.resolve("results").resolve(name),
                    reportOnly);
        }

        private void take(String word) {
            switch (word) {
                case "--quick" -> quick = true;
                case "--growth-ends" -> growthEnds = true;
                case "--report" -> reportOnly = true;
                case "--rounds" -> rounds = number(word, MOST_ROUNDS);
                case "--horizon-minutes" -> horizonMinutes = number(word, MOST_MINUTES);
                case "--parts" -> parts = parts(value(word));
                case "--peers" -> peers = peers(value(word));
                default -> name(word);
            }
        }

        private void name(String word) {
            if (word.startsWith("-")) {
                throw new UsageError("unknown option '%s'".formatted(word));
            }
            if (named) {
                throw new UsageError("there are two names, '%s' and '%s'; one is enough".formatted(name, word));
            }
            if (!word.matches("[A-Za-z0-9][A-Za-z0-9._-]*")) {
                throw new UsageError("'%s' is not a name; letters, digits, dots and dashes are".formatted(word));
            }
            name = word;
            named = true;
        }

        private String value(String option) {
            if (left.isEmpty() || left.peek().startsWith("--")) {
                throw new UsageError("%s needs a value".formatted(option));
            }
            return left.pop();
        }

        private int number(String option, int most) {
            var text = value(option);
            if (!text.matches("[0-9]{1,4}") || Integer.parseInt(text) < 1 || Integer.parseInt(text) > most) {
                throw new UsageError("%s is '%s'; it must be a number from 1 to %d".formatted(option, text, most));
            }
            return Integer.parseInt(text);
        }

        private static Set<Part> parts(String list) {
            var chosen = EnumSet.noneOf(Part.class);
            for (var label : list.split(",")) {
                chosen.add(Arrays.stream(Part.values())
                        .filter(part -> part.label().equals(label))
                        .findFirst()
                        .orElseThrow(() -> new UsageError(
                                "no part is called '%s'; there are %s".formatted(label, Part.labels()))));
            }
            return chosen;
        }

        private static Set<String> peers(String list) {
            var all = Part.allPeers();
            var chosen = new LinkedHashSet<>(Arrays.asList(list.split(",")));
            for (var word : chosen) {
                var peer = word.split(":", 2);
                if (!all.contains(peer[0])) {
                    throw new UsageError(
                            "no peer is called '%s'; there are %s".formatted(peer[0], String.join(", ", all)));
                }
                if (peer.length > 1) {
                    parts(peer[1]);
                }
            }
            return chosen;
        }
    }
}
