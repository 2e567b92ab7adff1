package dev.steadwork.chaos;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** How far it is, by what the histories have got since the last look. */
final class Progress {
    private final Target target;
    private final Path folder;
    private final Map<Path, Long> read = new HashMap<>();
    private final Map<Kind, Long> counts = new HashMap<>();

    Progress(Target target, Path folder) {
        this.target = target;
        this.folder = folder;
    }

    String line() {
        try (var files = Files.list(folder)) {
            for (var file : files.filter(path -> path.toString().endsWith(History.SUFFIX))
                    .toList()) {
                count(file);
            }
        } catch (IOException e) {
            return "no progress can be told: " + e.getMessage();
        }
        return "accepted %,d, steps executed %,d, %s"
                .formatted(counts.getOrDefault(Kind.ACCEPTED, 0L), counts.getOrDefault(Kind.EXECUTED, 0L), openRuns());
    }

    private String openRuns() {
        try {
            return "runs open %,d".formatted(new RecordsReader(target).open());
        } catch (SQLException away) {
            return "the database is away";
        }
    }

    private void count(Path file) throws IOException {
        try (var lines = new RandomAccessFile(file.toFile(), "r")) {
            long from = read.getOrDefault(file, 0L);
            lines.seek(from);
            var bytes = new byte[(int) (lines.length() - from)];
            lines.readFully(bytes);
            read.put(file, from + bytes.length);
            var text = new String(bytes, StandardCharsets.ISO_8859_1);
            for (var kind : new Kind[] {Kind.ACCEPTED, Kind.EXECUTED}) {
                counts.merge(kind, occurrences(text, "\"k\":\"" + kind + "\""), Long::sum);
            }
        }
    }

    private static long occurrences(String text, String part) {
        long count = 0;
        for (int at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length())) {
            count++;
        }
        return count;
    }
}
