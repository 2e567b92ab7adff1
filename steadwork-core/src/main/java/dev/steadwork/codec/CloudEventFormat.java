package dev.steadwork.codec;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.steadwork.OutboxEvent;
import io.cloudevents.CloudEvent;
import io.cloudevents.core.builder.CloudEventBuilder;
import io.cloudevents.jackson.JsonFormat;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;

/**
 * Events as CloudEvents 1.0, for publishers. Needs {@code io.cloudevents:cloudevents-json-jackson} on the class path, which
 * Steadwork does not bring along.
 */
public final class CloudEventFormat {
    /** The content type of {@link #json}. */
    public static final String CONTENT_TYPE = JsonFormat.CONTENT_TYPE;

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final JsonFormat FORMAT = new JsonFormat();

    private CloudEventFormat() {}

    /** The event with its attributes; what is known of it beyond them is its data, in JSON. */
    public static CloudEvent cloudEvent(OutboxEvent event) {
        return CloudEventBuilder.v1()
                .withId(event.id())
                .withSource(source(event.namespace()))
                .withType("dev.steadwork.run." + event.kind().label())
                .withSubject(event.run().toString())
                .withTime(event.at().atOffset(ZoneOffset.UTC))
                .withExtension("sequence", "%019d".formatted(event.number()))
                .withExtension("partitionkey", event.run().toString())
                .withData("application/json", data(event).getBytes(StandardCharsets.UTF_8))
                .build();
    }

    /** The whole event as one JSON document: structured mode. */
    public static byte[] json(OutboxEvent event) {
        return FORMAT.serialize(cloudEvent(event));
    }

    private static URI source(String namespace) {
        try {
            return new URI(null, null, "/steadwork/" + namespace, null);
        } catch (URISyntaxException impossible) {
            throw new IllegalArgumentException(impossible);
        }
    }

    private static String data(OutboxEvent event) {
        return JSON.createObjectNode()
                .put("run", event.run().toString())
                .put("namespace", event.namespace())
                .put("workflow", event.workflow())
                .put("kind", event.kind().label())
                .put("worker", event.worker())
                .put("step", event.step())
                .put("attempt", event.attempt())
                .put("detail", event.detail())
                .put("actor", event.actor())
                .put("reason", event.reason())
                .toString();
    }
}
