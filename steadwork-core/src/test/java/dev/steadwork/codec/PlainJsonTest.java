package dev.steadwork.codec;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.steadwork.Payload;
import dev.steadwork.TypeRef;
import java.io.IOException;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlainJsonTest {
    private final PlainJson plain = new PlainJson();
    private final ObjectMapper jackson = new ObjectMapper();

    @Property
    void numbers_are_written_as_jackson_writes_them(@ForAll long number, @ForAll int small, @ForAll boolean truth)
            throws JsonProcessingException {
        for (var value : List.<Object>of(number, small, truth)) {
            assertThat(plain.encode(value)).isEqualTo(jackson.writeValueAsBytes(value));
        }
    }

    @Property
    void what_is_read_is_what_jackson_reads(@ForAll("numbersOrNearlySo") String json) throws IOException {
        for (var type : List.<Class<?>>of(Long.class, Integer.class)) {
            var value = plain.decode(json.getBytes(UTF_8), type);
            if (value != null) {
                assertThat(value).isEqualTo(jackson.readValue(json, type));
            }
        }
    }

    @Provide
    Arbitrary<String> numbersOrNearlySo() {
        return Arbitraries.oneOf(
                Arbitraries.longs().map(String::valueOf),
                Arbitraries.integers().map(String::valueOf),
                Arbitraries.strings().withChars("-0123456789 .e").ofMaxLength(22));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "7", "-1", "2147483647", "-2147483648", "999999999999999999"})
    void common_numbers_need_no_parser(String json) {
        assertThat(plain.decode(json.getBytes(UTF_8), Long.class)).isEqualTo(Long.valueOf(json));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", "-0", "007", " 7", "7 ", "1.0", "1e3", "\"7\"", "null", "1000000000000000000"})
    void anything_else_is_left_to_jackson(String json) {
        assertThat(plain.decode(json.getBytes(UTF_8), Long.class)).isNull();
        assertThat(plain.decode(json.getBytes(UTF_8), String.class)).isNull();
    }

    @Test
    void a_number_that_does_not_fit_is_left_to_jackson_which_refuses_it() {
        assertThat(plain.decode("2147483648".getBytes(UTF_8), Integer.class)).isNull();
    }

    @Test
    void a_mapper_of_the_application_is_asked_about_numbers_too() {
        var quoting = new JsonCodec(
                new ObjectMapper().configure(JsonWriteFeature.WRITE_NUMBERS_AS_STRINGS.mappedFeature(), true));

        var payload = quoting.encode(7);

        assertThat(payload).isEqualTo(new Payload("\"7\"".getBytes(UTF_8), Payload.JSON));
        assertThat(quoting.decode(payload, TypeRef.of(Integer.class))).isEqualTo(7);
    }
}
