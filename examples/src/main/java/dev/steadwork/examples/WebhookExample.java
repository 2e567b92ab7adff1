package dev.steadwork.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import io.cloudevents.jackson.JsonFormat;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Events of runs are posted to an endpoint, which verifies their signatures. */
public final class WebhookExample {
    static final Workflow<String, String> GREET = Workflow.define("greet", String.class, String.class);
    private static final String SECRET = "change me, and keep me secret";

    private WebhookExample() {}

    static boolean isGenuine(String header, byte[] body) {
        try {
            var parts = header.split("[=,]"); // t, seconds, v1, signature
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(SECRET.getBytes(UTF_8), "HmacSHA256"));
            mac.update((parts[1] + ".").getBytes(UTF_8));
            var expected = HexFormat.of().formatHex(mac.doFinal(body));
            boolean recent = Math.abs(Instant.now().getEpochSecond() - Long.parseLong(parts[1])) < 300;
            return recent && MessageDigest.isEqual(expected.getBytes(UTF_8), parts[3].getBytes(UTF_8));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException(missing);
        }
    }

    static void receive(HttpExchange exchange, CountDownLatch received) throws IOException {
        var body = exchange.getRequestBody().readAllBytes();
        boolean genuine = isGenuine(exchange.getRequestHeaders().getFirst("Steadwork-Signature"), body);
        var event = new JsonFormat().deserialize(body);
        System.out.println(event.getType() + (genuine ? "" : " is forged"));
        exchange.sendResponseHeaders(genuine ? 204 : 401, -1);
        exchange.close();
        received.countDown();
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        var received = new CountDownLatch(3);
        var endpoint = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        endpoint.createContext("/events", exchange -> receive(exchange, received));
        endpoint.start();
        var url = "http://localhost:%d/events".formatted(endpoint.getAddress().getPort());
        var settings = Steadwork.builder().url(ExampleDatabase.url(args)).webhook(url, SECRET);
        try (var steadwork = settings.open()) {
            steadwork.namespaces().create("default", namespace -> namespace.outbox(true));
            steadwork.worker().handle(GREET, (ctx, name) -> "Hello " + name).start();
            steadwork.workflow(GREET).trigger("Ada").await(Duration.ofSeconds(30));
            received.await(30, TimeUnit.SECONDS);
            System.out.println("given up: " + steadwork.outbox().stats().dead());
        } finally {
            endpoint.stop(0);
        }
    }
}
