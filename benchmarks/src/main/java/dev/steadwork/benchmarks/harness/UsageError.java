package dev.steadwork.benchmarks.harness;

/** The command line cannot be understood. */
final class UsageError extends RuntimeException {
    private static final long serialVersionUID = 1;

    UsageError(String message) {
        super(message);
    }
}
