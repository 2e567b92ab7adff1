package dev.steadwork.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.steadwork.ErrorCode;
import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.Serialization;
import dev.steadwork.TypeRef;
import dev.steadwork.testing.Proves;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every failure is a Serialization that names the type and what to do, and never quotes the value. */
@Proves("DATA-1")
class JsonCodecErrorsTest {
    private static final String SECRET = "hunter2";

    private final JsonCodec codec = new JsonCodec();

    record Account(String user, Instant since, int age, Map<String, Integer> scores, Email email, RunId run) {}

    record Email(String address) {
        Email {
            if (!address.contains("@")) {
                throw new IllegalArgumentException("no email address: " + address);
            }
        }
    }

    sealed interface Shape permits Circle {}

    record Circle(int radius) implements Shape {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    sealed interface Named permits Leaf {}

    record Leaf(String name) implements Named {}

    record Drawing(Shape shape) {}

    static class Closed {
        private final String password;

        Closed(String password, int ignored) {
            this.password = password + ignored;
        }

        @Override
        public String toString() {
            return password;
        }
    }

    record Raw(@JsonRawValue String json) {}

    static class Moody {
        public String getMood() {
            throw new IllegalStateException("my password is " + SECRET);
        }
    }

    @SuppressWarnings("ClassCanBeStatic")
    class Inner {
        public int number;
    }

    static class Node {
        public String name = SECRET;
        public Node next;
    }

    @Test
    void a_class_without_a_default_constructor_is_told_to_become_a_record() {
        var error = reading("{\"password\":\"hunter2\"}", Closed.class);

        assertThat(error)
                .hasMessage(name(Closed.class) + " cannot be read from JSON: " + name(Closed.class)
                        + " has no default constructor: use a record.");
        assertThat(error.code()).isEqualTo(ErrorCode.SERIALIZATION);
    }

    @Test
    void an_inner_class_is_told_to_become_static() {
        assertThat(reading("{\"number\":1}", Inner.class)).hasMessageContaining("make it static, or use a record");
    }

    @Test
    void a_sealed_type_without_type_names_is_told_to_be_annotated() {
        assertThat(reading("{\"shape\":{\"radius\":1}}", Drawing.class))
                .hasMessageContaining(name(Drawing.class) + " cannot be read from JSON at shape: " + name(Shape.class))
                .hasMessageContaining("use a record, or annotate it with @JsonTypeInfo and @JsonSubTypes");
    }

    @Test
    void a_bare_list_of_a_named_type_is_told_to_move_into_a_record() {
        var payload = codec.encode(List.of(new Leaf(SECRET)));

        assertThat(failure(() -> codec.decode(payload, new TypeRef<List<Named>>() {})))
                .hasMessageContaining(name(Named.class))
                .hasMessageContaining("put the list into a record");
    }

    @Test
    void a_class_without_properties_is_told_to_become_a_record() {
        assertThat(writing(new Closed(SECRET, 1)))
                .hasMessage(name(Closed.class) + " cannot be written as JSON: " + name(Closed.class)
                        + " has no properties that JSON can see, or contains itself: use a record.");
    }

    @Test
    void a_type_that_the_users_mapper_does_not_know_asks_for_a_module() {
        var bare = new JsonCodec(new ObjectMapper());

        assertThat(failure(() -> bare.encode(Instant.EPOCH)))
                .hasMessageContaining("Jackson does not know java.time.Instant")
                .hasMessageContaining("an ObjectMapper with a module for it");
    }

    @Test
    void an_exception_of_a_constructor_is_named_with_its_stack_trace_but_not_its_message() {
        var error = reading("{\"email\":{\"address\":\"hunter2\"}}", Account.class);

        assertThat(error)
                .hasMessage(
                        "%s cannot be read from JSON at email: the constructor of %s threw java.lang.IllegalArgumentException."
                                .formatted(name(Account.class), name(Email.class)));
        assertThat(error.getCause().getStackTrace()[0].getClassName()).isEqualTo(Email.class.getName());
    }

    @Test
    void an_exception_of_a_getter_is_named_with_its_stack_trace_but_not_its_message() {
        var error = writing(new Moody());

        assertThat(error)
                .hasMessage(name(Moody.class)
                        + " cannot be written as JSON at mood: java.lang.IllegalStateException was thrown.");
        assertThat(error.getCause().getStackTrace()[0].getMethodName()).isEqualTo("getMood");
    }

    static Stream<Arguments> secretsInTheWrongPlace() {
        return Stream.of(
                Arguments.of("\"hunter2\"", "the JSON there does not fit " + name(Account.class)),
                Arguments.of("{\"since\":\"hunter2\"}", "at since: the JSON there does not fit java.time.Instant"),
                Arguments.of("{\"age\":\"hunter2\"}", "at age: the JSON there does not fit int"),
                Arguments.of("{\"scores\":{\"hunter2\":\"hunter2\"}}", "at scores[*]: "),
                Arguments.of("{\"scores\":{\"hunter2\":99999999999}}", "a number does not fit into int"),
                Arguments.of("{\"run\":\"hunter2\"}", "at run: the constructor of dev.steadwork.RunId threw"),
                Arguments.of("{\"email\":\"hunter2\"}", "at email: "),
                Arguments.of("{\"email\":{\"address\":\"hunter2\"}}", "at email: "),
                Arguments.of("{\"user\":hunter2}", "it is not valid JSON (line 1, column 9)"),
                Arguments.of("{\"user\":\"hunter2", "it is not valid JSON"),
                Arguments.of("{\"user\":\"a\"} hunter2", "it is not valid JSON"),
                Arguments.of("{\"user\":\"a\"} \"hunter2\"", "the JSON there does not fit "));
    }

    @ParameterizedTest
    @MethodSource("secretsInTheWrongPlace")
    void json_that_does_not_fit_is_refused_with_the_place_and_without_the_value(String json, String expected) {
        assertThat(reading(json, Account.class))
                .hasMessageContaining(name(Account.class) + " cannot be read from JSON")
                .hasMessageContaining(expected);
    }

    @Test
    void json_of_no_bytes_at_all_is_refused() {
        assertThat(reading("", Account.class)).hasMessageContaining("the JSON there does not fit");
    }

    @Test
    void bytes_that_are_not_utf_8_are_refused() {
        var payload = new Payload(new byte[] {'"', (byte) 0xFF, '"'}, Payload.JSON);

        assertThat(failure(() -> codec.decode(payload, TypeRef.of(String.class))))
                .hasMessageContaining("it is not valid JSON");
    }

    @Test
    void a_number_is_never_cut_to_fit() {
        assertThat(reading("99999999999999999999", Long.class)).hasMessageContaining("does not fit into long");
        assertThat(reading("1.5", Integer.class)).hasMessageContaining("the JSON there does not fit java.lang.Integer");
    }

    @Test
    void json_that_is_nested_too_deeply_is_refused_with_the_limit() {
        assertThat(reading("[".repeat(100_000), Object.class))
                .hasMessageContaining("java.lang.Object cannot be read from JSON: Document nesting depth (1001)")
                .hasMessageContaining("give JsonCodec an ObjectMapper with other constraints");
    }

    @Test
    void a_number_of_absurd_length_is_refused_with_the_limit() {
        assertThat(reading("1".repeat(5_000), Object.class)).hasMessageContaining("Number value length (5000)");
    }

    static Stream<Object> writtenButNotRead() {
        return Stream.of(
                Map.of("half a pair \uD83D", SECRET),
                Map.of("\uDE00", SECRET),
                new ObjectMapper().createObjectNode().put("\uD83D!", SECRET),
                Map.of("k".repeat(60_000), SECRET),
                List.of("v".repeat(20_000_001), SECRET),
                BigInteger.TEN.pow(2_000),
                new Raw("{" + SECRET));
    }

    @ParameterizedTest
    @MethodSource("writtenButNotRead")
    void what_could_not_be_read_back_is_refused_when_it_is_written(Object value) {
        assertThat(writing(value))
                .hasMessageContaining(name(value.getClass()) + " cannot be written as JSON")
                .hasMessageContaining("could not be read back");
    }

    static Stream<Object> cycles() {
        var self = new Node();
        self.next = self;
        var first = new Node();
        first.next = new Node();
        first.next.next = first;
        var list = new ArrayList<Object>();
        list.add(list);
        var map = new HashMap<String, Object>();
        map.put(SECRET, map);
        return Stream.of(List.of(self), List.of(first), List.of(list), List.of(map));
    }

    @ParameterizedTest
    @MethodSource("cycles")
    void a_value_that_contains_itself_is_refused(List<Object> holder) {
        var error = failure(() -> codec.encode(holder.get(0)));

        assertThat(error).hasMessageContaining("contains itself");
        assertThat(error.getMessage()).hasSizeLessThan(400);
    }

    @ParameterizedTest
    @MethodSource("cycles")
    void a_stack_overflow_is_refused_like_any_other_cycle(List<Object> holder) {
        var unlimited = new ObjectMapper();
        unlimited
                .getFactory()
                .setStreamWriteConstraints(StreamWriteConstraints.builder()
                        .maxNestingDepth(Integer.MAX_VALUE)
                        .build());

        assertThat(failure(() -> new JsonCodec(unlimited).encode(holder.get(0))))
                .hasMessageContaining("contains itself");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/octet-stream",
                "image/png",
                "application/json; encoding=gzip",
                "application/json; cipher=aes-256-gcm; key=k1",
                "application/json; charset=utf-16",
                "application/jsonl"
            })
    void a_content_type_that_is_not_json_is_refused_by_name(String contentType) {
        var payload = new Payload("{\"user\":\"hunter2\"}".getBytes(StandardCharsets.UTF_8), contentType);

        assertThat(failure(() -> codec.decode(payload, TypeRef.of(Account.class))))
                .hasMessageContaining("'" + contentType + "' cannot be read as " + name(Account.class))
                .hasMessageContaining("Use the codec that wrote it");
    }

    @Test
    void an_unknown_content_type_is_refused_for_an_object_too() {
        var payload = new Payload(new byte[] {1}, "image/png");

        assertThat(failure(() -> codec.decode(payload, TypeRef.of(Object.class))))
                .hasMessageContaining("'image/png' cannot be read as java.lang.Object");
    }

    private static String name(Class<?> type) {
        return type.getTypeName();
    }

    private Serialization writing(Object value) {
        return failure(() -> codec.encode(value));
    }

    private Serialization reading(String json, Class<?> type) {
        var payload = new Payload(json.getBytes(StandardCharsets.UTF_8), Payload.JSON);
        return failure(() -> codec.decode(payload, TypeRef.of(type)));
    }

    /** The failure, after a look that nothing a log would show of it contains the secret. */
    private static Serialization failure(Runnable call) {
        var error = catchThrowableOfType(Serialization.class, call::run);
        assertThat(error).isNotNull();
        var log = new StringWriter();
        error.printStackTrace(new PrintWriter(log));
        assertThat(log.toString()).doesNotContain(SECRET);
        return error;
    }
}
