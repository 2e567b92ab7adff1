package dev.steadwork.benchmarks.measure;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** A second process like this one, with the same settings. */
final class ChildProcess {
    private ChildProcess() {}

    static Process start(String... arguments) throws IOException {
        return builder(arguments).inheritIO().start();
    }

    static ProcessBuilder builder(String... arguments) {
        var command = new ArrayList<String>();
        command.add(ProcessHandle.current().info().command().orElse("java"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Measure.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }
}
