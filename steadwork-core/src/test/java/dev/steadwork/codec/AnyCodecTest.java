package dev.steadwork.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.Codec;
import dev.steadwork.DeadLetter;
import dev.steadwork.Payload;
import dev.steadwork.RunError;
import dev.steadwork.RunId;
import dev.steadwork.TypeRef;
import dev.steadwork.testing.Proves;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds for every codec and every way to combine them. */
@Proves("DATA-1")
class AnyCodecTest {
    record Parcel(String address, List<String> contents) {}

    static List<Codec> codecs() {
        var keys = new Keys("k1", Map.of("k1", new SecretKeySpec(new byte[32], "AES")));
        return List.of(
                new JsonCodec(),
                new CompressingCodec(new JsonCodec()),
                new CompressingCodec(new JsonCodec(), 1, 1 << 20),
                new EncryptingCodec(new JsonCodec(), keys),
                new EncryptingCodec(new CompressingCodec(new JsonCodec()), keys),
                new CompressingCodec(new EncryptingCodec(new JsonCodec(), keys)));
    }

    @ParameterizedTest
    @MethodSource("codecs")
    void null_is_no_payload_and_comes_back_as_null(Codec codec) {
        assertThat(codec.encode(null)).isSameAs(Payload.NONE);
        assertThat(codec.decode(Payload.NONE, TypeRef.of(Parcel.class))).isNull();
        assertThat(codec.decode(Payload.NONE, TypeRef.of(byte[].class))).isNull();
    }

    @ParameterizedTest
    @MethodSource("codecs")
    void no_payload_passes_untouched(Codec codec) {
        assertThat(codec.encode(Payload.NONE)).isSameAs(Payload.NONE);
    }

    @ParameterizedTest
    @MethodSource("codecs")
    void empty_values_are_told_apart_from_null(Codec codec) {
        assertThat(codec.encode(new byte[0]).isNone()).isFalse();
        assertThat(roundTrip(codec, new byte[0], TypeRef.of(byte[].class))).isEmpty();
        assertThat(roundTrip(codec, "", TypeRef.of(String.class))).isEmpty();
        assertThat(roundTrip(codec, List.of(), new TypeRef<List<String>>() {})).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("codecs")
    void bytes_that_are_not_json_come_back_identical(Codec codec) {
        for (int size : new int[] {1, 27, 28, 1023, 1024, 1025, 100_000}) {
            var noise = new byte[size];
            new Random(size).nextBytes(noise);

            assertThat(roundTrip(codec, noise, TypeRef.of(byte[].class))).isEqualTo(noise);
            assertThat(roundTrip(codec, noise, TypeRef.of(Object.class))).isEqualTo(noise);
        }
    }

    @ParameterizedTest
    @MethodSource("codecs")
    void small_and_large_records_come_back_equal(Codec codec) {
        var small = new Parcel("Main Street 1", List.of("book"));
        var large = new Parcel(
                "Main Street 1",
                IntStream.range(0, 10_000).mapToObj(i -> "book " + i).toList());

        assertThat(roundTrip(codec, small, TypeRef.of(Parcel.class))).isEqualTo(small);
        assertThat(roundTrip(codec, large, TypeRef.of(Parcel.class))).isEqualTo(large);
    }

    @ParameterizedTest
    @MethodSource("codecs")
    void a_payload_can_be_read_as_a_payload_without_its_wrapping(Codec codec) {
        var json = new JsonCodec().encode("x".repeat(5_000));

        assertThat(roundTrip(codec, "x".repeat(5_000), TypeRef.of(Payload.class)))
                .isEqualTo(json);
    }

    @ParameterizedTest
    @MethodSource("codecs")
    void the_stored_input_of_a_dead_letter_can_be_sent_again_and_again(Codec codec) {
        var order = "order ".repeat(1_000);
        var stored = codec.encode(order);
        for (int i = 0; i < 20; i++) {
            stored = codec.encode(stored);
        }

        assertThat(codec.decode(stored, TypeRef.of(String.class))).isEqualTo(order);
    }

    @ParameterizedTest
    @MethodSource("codecs")
    void a_dead_letter_carries_the_stored_input_unchanged(Codec codec) {
        var runId = new RunId(UUID.fromString("0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e"));
        var input = codec.encode(new Parcel("Main Street 1", List.of("book")));
        var letter = new DeadLetter(runId, "ship", input, new RunError("java.io.IOException", null, "pack", null));

        assertThat(roundTrip(codec, letter, TypeRef.of(DeadLetter.class))).isEqualTo(letter);
    }

    @ParameterizedTest
    @MethodSource("codecs")
    void many_threads_may_share_a_codec(Codec codec) {
        var calls = IntStream.range(0, 200)
                .mapToObj(i -> CompletableFuture.supplyAsync(
                        () -> roundTrip(codec, ("value " + i).repeat(200), TypeRef.of(String.class))))
                .toList();

        for (int i = 0; i < calls.size(); i++) {
            assertThat(calls.get(i).join()).isEqualTo(("value " + i).repeat(200));
        }
    }

    private static <T> T roundTrip(Codec codec, Object value, TypeRef<T> type) {
        return codec.decode(codec.encode(value), type);
    }
}
