package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A place in user code where a test holds it up until the gate is opened; open gates stay open. */
final class Gate {
    private static final long PATIENCE_SECONDS = 60;

    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    /** Waits until the gate is open, unless interrupted. */
    void pass() throws InterruptedException {
        reached.countDown();
        assertThat(opened.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    /** Waits until the gate is open, as code does that ignores interrupts. */
    void passDeaf() {
        while (true) {
            try {
                pass();
                return;
            } catch (InterruptedException ignored) {
                // this is what being deaf means
            }
        }
    }

    void awaitReached() throws InterruptedException {
        assertThat(reached.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    void open() {
        opened.countDown();
    }
}
