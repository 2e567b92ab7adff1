package dev.steadwork.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.cloudevents.jackson.JsonFormat;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * An endpoint for webhooks in a process of its own. Arguments: the secret, and the type of events that it never takes, with the
 * answer to them. Reports its port and all that it gets; {@code /status/503} lets it answer so from then on, an answer of {@code
 * /endless} never ends.
 */
public final class TestWebhookMain {
    private TestWebhookMain() {}

    public static void main(String[] args) throws IOException {
        var status = new AtomicInteger(204);
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/status/", exchange -> {
            status.set(Integer.parseInt(exchange.getRequestURI().getPath().substring("/status/".length())));
            answer(exchange, 204);
        });
        server.createContext("/moved", exchange -> {
            exchange.getResponseHeaders().add("Location", "/events");
            System.out.println("moved");
            answer(exchange, 307);
        });
        server.createContext("/endless", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(' ');
            exchange.getResponseBody().flush();
        });
        server.createContext("/events", exchange -> {
            var body = exchange.getRequestBody().readAllBytes();
            var event = new JsonFormat().deserialize(body);
            int answer = event.getType().equals(args[1]) ? Integer.parseInt(args[2]) : status.get();
            System.out.printf(
                    "%d %s %s %s %s %s%n",
                    answer,
                    event.getSubject(),
                    event.getType(),
                    event.getId(),
                    exchange.getRequestHeaders().getFirst("Content-Type"),
                    isSigned(exchange, body, args[0]) ? "signed" : "forged");
            answer(exchange, answer);
        });
        server.start();
        System.out.println("port " + server.getAddress().getPort());
    }

    private static void answer(HttpExchange exchange, int status) throws IOException {
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    private static boolean isSigned(HttpExchange exchange, byte[] body, String secret) {
        var header = exchange.getRequestHeaders().getFirst("Steadwork-Signature");
        var parts = header.split("[=,]");
        try {
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            mac.update((parts[1] + ".").getBytes(StandardCharsets.UTF_8));
            return Objects.equals(HexFormat.of().formatHex(mac.doFinal(body)), parts[3]);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
