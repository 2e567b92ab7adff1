package dev.steadwork.execute;

import java.time.Duration;

/** An attempt of a step that did not end within its timeout. */
final class StepTimeout extends Exception {
    StepTimeout(String step, Duration timeout) {
        super("Step %s did not end within %s and was interrupted.".formatted(step, timeout));
    }
}
