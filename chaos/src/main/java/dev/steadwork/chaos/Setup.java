package dev.steadwork.chaos;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a worker or client process is told on its command line.
 *
 * @param process its name in the history
 * @param lane which of its kind it is, from 1; the same for all that follow each other after kills
 * @param url where the database is, for this process
 * @param directUrl where the database is without a network that fails
 * @param folder where the history is
 * @param rate triggers a second of a client
 * @param startNanos when the chaos began, by the machine's monotonic clock
 * @param mutant the rule that is broken on purpose
 */
record Setup(
        String process,
        int lane,
        String url,
        String directUrl,
        Path folder,
        Duration lease,
        double rate,
        long seed,
        long startNanos,
        Mutant mutant) {

    List<String> arguments() {
        var all = new LinkedHashMap<String, Object>();
        all.put("process", process);
        all.put("lane", lane);
        all.put("url", url);
        all.put("directUrl", directUrl);
        all.put("folder", folder);
        all.put("lease", lease);
        all.put("rate", rate);
        all.put("seed", seed);
        all.put("start", startNanos);
        all.put("mutant", mutant);
        var arguments = new ArrayList<String>();
        all.forEach((name, value) -> arguments.add(name + "=" + value));
        return arguments;
    }

    static Setup of(String[] arguments) {
        var all = new LinkedHashMap<String, String>();
        for (var argument : arguments) {
            int equals = argument.indexOf('=');
            all.put(argument.substring(0, equals), argument.substring(equals + 1));
        }
        return new Setup(
                get(all, "process"),
                Integer.parseInt(get(all, "lane")),
                get(all, "url"),
                get(all, "directUrl"),
                Path.of(get(all, "folder")),
                Duration.parse(get(all, "lease")),
                Double.parseDouble(get(all, "rate")),
                Long.parseLong(get(all, "seed")),
                Long.parseLong(get(all, "start")),
                Mutant.valueOf(get(all, "mutant")));
    }

    private static String get(Map<String, String> all, String name) {
        var value = all.get(name);
        if (value == null) {
            throw new IllegalArgumentException(name + " is missing");
        }
        return value;
    }

    boolean isSqlite() {
        return url.startsWith("jdbc:sqlite:");
    }
}
