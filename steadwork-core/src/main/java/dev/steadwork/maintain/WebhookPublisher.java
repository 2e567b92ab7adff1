package dev.steadwork.maintain;

import dev.steadwork.EventPublisher;
import dev.steadwork.OutboxEvent;
import dev.steadwork.PermanentFailure;
import dev.steadwork.Webhook;
import dev.steadwork.codec.CloudEventFormat;
import java.io.IOException;
import java.net.InetAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Posts events to an endpoint, signed. */
public final class WebhookPublisher implements EventPublisher {
    private static final String ALGORITHM = "HmacSHA256";
    private static final int GONE = 410;
    private static final int TOO_MANY = 429;

    private final Webhook webhook;
    private final Circuit circuit;
    private final HttpClient client;

    public WebhookPublisher(Webhook webhook) {
        this.webhook = webhook;
        this.circuit = new Circuit(webhook.toString(), webhook.failuresToOpen(), webhook.openFor());
        this.client = HttpClient.newBuilder()
                .connectTimeout(webhook.timeout())
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    @Override
    public void publish(OutboxEvent event) throws Exception {
        var body = CloudEventFormat.json(event);
        if (body.length > webhook.maxBytes()) {
            throw new PermanentFailure("Event %s is %d bytes, over the limit of %d bytes of the webhook."
                    .formatted(event.id(), body.length, webhook.maxBytes()));
        }
        circuit.enter();
        boolean answered = false;
        int status;
        try {
            refuseLinkLocal();
            status = send(request(body));
            answered = true;
        } finally {
            if (!answered) {
                circuit.failed();
            }
        }
        heed(status);
    }

    /** The timeout of a request ends with the head of the answer: the rest of it could take for ever. */
    private int send(HttpRequest request) throws IOException, InterruptedException {
        var answer = client.sendAsync(request, HttpResponse.BodyHandlers.discarding());
        try {
            return answer.get(webhook.timeout().toNanos(), TimeUnit.NANOSECONDS).statusCode();
        } catch (TimeoutException late) {
            throw new HttpTimeoutException("The endpoint did not answer within %d ms."
                    .formatted(webhook.timeout().toMillis()));
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof IOException known ? known : new IOException(failed.getCause());
        } finally {
            answer.cancel(true);
        }
    }

    /** Looked up for each event: what a name stands for may change. */
    private void refuseLinkLocal() throws IOException {
        var host = webhook.url().getHost();
        for (var address : InetAddress.getAllByName(host)) {
            Webhook.refuseLinkLocal(host, address);
        }
    }

    private HttpRequest request(byte[] body) {
        long seconds = Instant.now().getEpochSecond();
        return HttpRequest.newBuilder(webhook.url())
                .header("Content-Type", CloudEventFormat.CONTENT_TYPE)
                .header("Steadwork-Signature", "t=" + seconds + ",v1=" + signature(seconds, body))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
    }

    private String signature(long seconds, byte[] body) {
        try {
            var mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(webhook.secret().getBytes(StandardCharsets.UTF_8), ALGORITHM));
            mac.update((seconds + ".").getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(mac.doFinal(body));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException(missing);
        }
    }

    /** An endpoint that refuses one event is not down: only what says nothing about the event opens the circuit. */
    private void heed(int status) throws IOException {
        if (status >= 500 || status == TOO_MANY) {
            circuit.failed();
            throw new IOException("The endpoint answered " + status + ".");
        }
        circuit.succeeded();
        if (status == GONE) {
            throw new PermanentFailure("The endpoint answered 410: it does not want the event.");
        }
        if (status < 200 || status >= 300) {
            throw new IOException("The endpoint answered " + status + ".");
        }
    }

    @Override
    public String toString() {
        return webhook.toString();
    }
}
