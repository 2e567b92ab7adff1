package dev.steadwork.testing;

import dev.steadwork.RetryPolicy;
import dev.steadwork.Steadwork;
import dev.steadwork.Webhook;
import java.time.Duration;

/**
 * Executes {@link Script}s and sends their events to a webhook. Arguments: the URL of the database, the lease, the endpoint and
 * its secret.
 */
public final class TestDispatcherMain {
    private TestDispatcherMain() {}

    public static void main(String[] args) {
        var lease = Duration.parse(args[1]);
        var steadwork = Steadwork.builder()
                .url(args[0])
                .lease(lease)
                .heartbeat(lease.dividedBy(4))
                .pollInterval(Duration.ofMillis(200))
                .poolSize(5)
                .webhook(
                        Webhook.to(args[2], args[3]),
                        RetryPolicy.defaults().withMaxAttempts(5).withMaxInterval(Duration.ofMillis(100)))
                .open();
        try (steadwork) {
            steadwork
                    .worker()
                    .handle(Script.SCRIPT, new Script(line -> {}))
                    .start()
                    .join();
        }
    }
}
