package dev.steadwork.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import dev.steadwork.DeadLetter;
import dev.steadwork.InvalidArgument;
import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.TypeRef;
import dev.steadwork.testing.Proves;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Proves("DATA-1")
class JsonCodecTest {
    private static final RunId RUN = new RunId(UUID.fromString("0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e"));

    private final JsonCodec codec = new JsonCodec();

    enum Size {
        SMALL,
        LARGE
    }

    record Line(String sku, int count, BigDecimal price) {}

    record Order(String id, Size size, List<Line> lines, Map<String, Line> gifts, Optional<String> note) {}

    record Page<T>(List<T> items, Optional<T> last) {}

    record Moments(Instant instant, Duration duration, LocalDate date, OffsetDateTime offset, ZonedDateTime zoned) {}

    record Nothing() {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes({@JsonSubTypes.Type(Circle.class), @JsonSubTypes.Type(Square.class)})
    sealed interface Shape permits Circle, Square {}

    record Circle(int radius) implements Shape {}

    record Square(int side) implements Shape {}

    record Drawing(List<Shape> shapes) {}

    static class Bean {
        public String name = "";
        public byte[] photo = {};
    }

    @Test
    void records_with_lists_maps_enums_and_optionals_come_back_equal() {
        var line = new Line("book", 2, new BigDecimal("9.90"));
        var order = new Order("o-1", Size.LARGE, List.of(line, line), Map.of("first", line), Optional.of("quick"));

        assertThat(roundTrip(order, TypeRef.of(Order.class))).isEqualTo(order);
    }

    @Test
    void a_record_without_components_comes_back_equal() {
        assertThat(roundTrip(new Nothing(), TypeRef.of(Nothing.class))).isEqualTo(new Nothing());
    }

    @Test
    void type_arguments_are_kept() {
        var page = new Page<>(List.of(new Line("a", 1, BigDecimal.ONE)), Optional.of(new Line("b", 2, BigDecimal.TEN)));

        assertThat(roundTrip(page, new TypeRef<Page<Line>>() {})).isEqualTo(page);
        assertThat(roundTrip(List.of(RUN), new TypeRef<List<RunId>>() {})).containsExactly(RUN);
    }

    @Test
    void an_empty_optional_comes_back_empty_and_an_absent_one_too() {
        assertThat(roundTrip(Optional.empty(), new TypeRef<Optional<String>>() {}))
                .isEmpty();
        assertThat(roundTrip(OptionalInt.of(7), TypeRef.of(OptionalInt.class))).hasValue(7);
        assertThat(read("{\"id\":\"o-1\"}", TypeRef.of(Order.class)).note()).isEmpty();
    }

    @Test
    void plain_classes_with_fields_and_bytes_come_back_equal() {
        var bean = new Bean();
        bean.name = "Ada";
        bean.photo = new byte[] {0, -1, 127};

        assertThat(roundTrip(bean, TypeRef.of(Bean.class)))
                .usingRecursiveComparison()
                .isEqualTo(bean);
    }

    @Test
    void moments_come_back_to_the_nanosecond_and_in_their_own_zone() {
        var zoned = ZonedDateTime.of(2026, 10, 25, 2, 30, 0, 1, ZoneId.of("Europe/Berlin"))
                .withLaterOffsetAtOverlap();
        var moments = new Moments(
                Instant.parse("2026-01-02T03:04:05.123456789Z"),
                Duration.ofHours(36).plusNanos(1),
                LocalDate.of(2026, 2, 28),
                OffsetDateTime.parse("2026-01-02T03:04:05+05:30"),
                zoned);

        assertThat(roundTrip(moments, TypeRef.of(Moments.class))).isEqualTo(moments);
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTC", "Z", "America/New_York", "+02:00"})
    void a_zone_is_not_replaced_by_an_equivalent_one(String zone) {
        var moment = ZonedDateTime.of(2026, 1, 1, 0, 0, 0, 0, ZoneId.of(zone));

        assertThat(roundTrip(moment, TypeRef.of(ZonedDateTime.class))).isEqualTo(moment);
    }

    @Test
    void moments_are_written_as_iso_text() {
        assertThat(text(Instant.parse("2026-01-02T03:04:05Z"))).isEqualTo("\"2026-01-02T03:04:05Z\"");
        assertThat(text(Duration.ofMinutes(90))).isEqualTo("\"PT1H30M\"");
        assertThat(text(LocalDate.of(2026, 1, 2))).isEqualTo("\"2026-01-02\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.10",
                "0.1234567890123456789012345678901234567890",
                "1E+400",
                "-0.000",
                "99999999999999999999.01"
            })
    void decimals_keep_every_digit_and_their_scale(String number) {
        var exact = new BigDecimal(number);

        assertThat(roundTrip(exact, TypeRef.of(BigDecimal.class))).isEqualTo(exact);
        assertThat(roundTrip(new Line("a", 1, exact), TypeRef.of(Line.class)).price())
                .isEqualTo(exact);
    }

    @Test
    void numbers_beyond_long_are_kept() {
        var huge = BigInteger.TWO.pow(200).negate();

        assertThat(roundTrip(huge, TypeRef.of(BigInteger.class))).isEqualTo(huge);
        assertThat(roundTrip(huge, TypeRef.of(Object.class))).isEqualTo(huge);
    }

    @Test
    void the_edges_of_the_primitive_types_are_kept() {
        assertThat(roundTrip(Long.MIN_VALUE, TypeRef.of(long.class))).isEqualTo(Long.MIN_VALUE);
        assertThat(roundTrip(Double.MIN_VALUE, TypeRef.of(double.class))).isEqualTo(Double.MIN_VALUE);
        assertThat(roundTrip(Double.NaN, TypeRef.of(double.class))).isNaN();
        assertThat(roundTrip(Float.NEGATIVE_INFINITY, TypeRef.of(float.class))).isEqualTo(Float.NEGATIVE_INFINITY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "\u0000", "\"quoted\" \\ \n", "grüße 漢字 \uD83D\uDE00", "\uFEFF", "\u2028"})
    void any_text_comes_back_equal(String text) {
        assertThat(roundTrip(text, TypeRef.of(String.class))).isEqualTo(text);
    }

    @Test
    void half_a_surrogate_pair_comes_back_and_is_not_turned_into_a_question_mark() {
        for (var text : List.of("\uD83D", "a\uD83Db", "\uDE00", "\uDE00\uD83D", "x".repeat(9_000) + "\uD83D")) {
            assertThat(roundTrip(text, TypeRef.of(String.class))).isEqualTo(text);
        }
    }

    @Test
    void a_sealed_type_with_type_names_comes_back_alone_and_inside_a_record() {
        var drawing = new Drawing(List.of(new Circle(1), new Square(2)));

        assertThat(roundTrip(new Circle(3), TypeRef.of(Shape.class))).isEqualTo(new Circle(3));
        assertThat(roundTrip(drawing, TypeRef.of(Drawing.class))).isEqualTo(drawing);
    }

    @Test
    void unknown_properties_are_ignored_and_missing_ones_are_null() {
        var line = read("{\"sku\":\"a\",\"colour\":{\"deep\":[1]}}", TypeRef.of(Line.class));

        assertThat(line).isEqualTo(new Line("a", 0, null));
    }

    @Test
    void bytes_pass_as_they_are_without_a_copy() {
        var bytes = new byte[] {0, 1, -1};

        var payload = codec.encode(bytes);

        assertThat(payload.contentType()).isEqualTo(Payload.BYTES);
        assertThat(payload.bytes()).isSameAs(bytes);
    }

    @Test
    void any_payload_can_be_read_as_bytes_or_as_the_payload_itself() {
        var image = new Payload(new byte[] {1, 2}, "image/png");

        assertThat(codec.decode(image, TypeRef.of(byte[].class))).isSameAs(image.bytes());
        assertThat(codec.decode(image, new TypeRef<byte[]>() {})).isSameAs(image.bytes());
        assertThat(codec.decode(image, TypeRef.of(Payload.class))).isSameAs(image);
        assertThat(codec.encode(image)).isSameAs(image);
    }

    @Test
    void an_object_is_what_the_content_type_suggests() {
        var bytes = new Payload("{}".getBytes(StandardCharsets.UTF_8), Payload.BYTES);

        assertThat(codec.decode(bytes, TypeRef.of(Object.class))).isSameAs(bytes.bytes());
        assertThat(read("{\"a\":[1,\"b\"]}", TypeRef.of(Object.class))).isEqualTo(Map.of("a", List.of(1, "b")));
    }

    @Test
    void void_ignores_the_payload_whatever_it_is() {
        assertThat(codec.decode(new Payload(new byte[] {1}, "image/png"), TypeRef.of(Void.class)))
                .isNull();
        assertThat(codec.decode(codec.encode(1), TypeRef.of(void.class))).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/json",
                "Application/JSON",
                "application/json; charset=utf-8",
                "application/json;charset=UTF-8",
                "application/problem+json"
            })
    void json_of_other_writers_is_read(String contentType) {
        var payload = new Payload("[1]".getBytes(StandardCharsets.UTF_8), contentType);

        assertThat(codec.decode(payload, new TypeRef<List<Integer>>() {})).containsExactly(1);
    }

    @Test
    void a_run_id_is_its_uuid_as_text_and_as_a_key() {
        assertThat(text(RUN)).isEqualTo("\"0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e\"");
        assertThat(text(Map.of(RUN, 1))).isEqualTo("{\"0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e\":1}");
        assertThat(roundTrip(Map.of(RUN, 1), new TypeRef<Map<RunId, Integer>>() {}))
                .containsOnlyKeys(RUN);
    }

    @Test
    void a_dead_letter_is_plain_json_with_its_input_as_base64() {
        var input = new Payload(new byte[] {0, -1, 16}, "application/json; encoding=gzip");

        assertThat(text(new DeadLetter(RUN, "ship", input, new RunError("timeout", "late", null, null))))
                .isEqualTo("{\"runId\":\"0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e\",\"workflow\":\"ship\","
                        + "\"input\":{\"bytes\":\"AP8Q\",\"contentType\":\"application/json; encoding=gzip\"},"
                        + "\"error\":{\"type\":\"timeout\",\"message\":\"late\",\"step\":null,\"stackTrace\":null}}");
    }

    @Test
    void steadworks_own_types_survive_the_settings_of_a_users_mapper() {
        var strict = new ObjectMapper()
                .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                .setDefaultPropertyInclusion(JsonInclude.Include.NON_EMPTY);
        var own = new JsonCodec(strict);
        var letter = new DeadLetter(RUN, "ship", Payload.NONE, new RunError("timeout", null, null, null));

        assertThat(own.decode(own.encode(letter), TypeRef.of(DeadLetter.class))).isEqualTo(letter);
    }

    @Test
    void a_users_mapper_is_copied() {
        var mapper = new ObjectMapper();
        var own = new JsonCodec(mapper);

        mapper.setPropertyNamingStrategy(PropertyNamingStrategies.UPPER_CAMEL_CASE);

        assertThat(new String(own.encode(new Circle(1)).bytes(), StandardCharsets.UTF_8))
                .contains("\"radius\"");
        assertThat(mapper.getRegisteredModuleIds()).isEmpty();
    }

    @Test
    void a_mapper_that_does_not_write_json_is_refused() {
        var yaml = new ObjectMapper(new JsonFactory() {
            @Override
            public String getFormatName() {
                return "YAML";
            }
        });

        assertThatThrownBy(() -> new JsonCodec(yaml))
                .isInstanceOf(InvalidArgument.class)
                .hasMessage("The mapper of a JsonCodec writes YAML; it must write JSON.");
    }

    private String text(Object value) {
        return new String(codec.encode(value).bytes(), StandardCharsets.UTF_8);
    }

    private <T> T read(String json, TypeRef<T> type) {
        return codec.decode(new Payload(json.getBytes(StandardCharsets.UTF_8), Payload.JSON), type);
    }

    private <T> T roundTrip(Object value, TypeRef<T> type) {
        return codec.decode(codec.encode(value), type);
    }
}
