package dev.steadwork.examples.demo;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Lets Ctrl-C end the demo in good order: whoever asks is told, and the JVM waits until everything is put away. */
final class CtrlC implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 8;

    private final CountDownLatch putAway = new CountDownLatch(1);
    private final Thread hook = new Thread(this::wasPressed, "ctrl-c");
    private volatile boolean pressed;

    CtrlC() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    boolean isPressed() {
        return pressed;
    }

    private void wasPressed() {
        pressed = true;
        try {
            putAway.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException nobodyDoesThis) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        if (!pressed) {
            Runtime.getRuntime().removeShutdownHook(hook);
        }
        putAway.countDown();
    }
}
