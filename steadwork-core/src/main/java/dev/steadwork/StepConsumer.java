package dev.steadwork;

/** The code of a step without a result that wants to know about itself. */
@FunctionalInterface
public interface StepConsumer {
    void run(StepContext step) throws Exception;
}
