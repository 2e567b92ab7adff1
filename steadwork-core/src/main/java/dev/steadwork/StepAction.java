package dev.steadwork;

/** The code of a step without a result. */
@FunctionalInterface
public interface StepAction {
    void run() throws Exception;
}
