package dev.steadwork.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.InvalidArgument;
import dev.steadwork.Payload;
import dev.steadwork.Serialization;
import dev.steadwork.TypeRef;
import dev.steadwork.testing.Proves;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

@Proves("DATA-1")
class CompressingCodecTest {
    private static final String PACKED_JSON = "application/json; encoding=gzip";
    private static final String PACKED_BYTES = "application/octet-stream; encoding=gzip";
    private static final TypeRef<byte[]> BYTES = TypeRef.of(byte[].class);

    private final CompressingCodec codec = new CompressingCodec(new JsonCodec());

    @Test
    void a_payload_from_the_threshold_on_is_compressed_and_says_so() {
        var packed = codec.encode(new byte[1024]);

        assertThat(packed.contentType()).isEqualTo(PACKED_BYTES);
        assertThat(packed.size()).isLessThan(100);
        assertThat(codec.encode("x".repeat(1022)).contentType()).isEqualTo(PACKED_JSON);
    }

    @Test
    void a_payload_below_the_threshold_is_left_as_it_is() {
        var bytes = new byte[1023];

        assertThat(codec.encode(bytes).bytes()).isSameAs(bytes);
        assertThat(codec.encode(bytes).contentType()).isEqualTo(Payload.BYTES);
    }

    @Test
    void a_payload_that_would_not_get_smaller_is_left_as_it_is() {
        var noise = new byte[10_000];
        new Random(1).nextBytes(noise);

        assertThat(codec.encode(noise)).isEqualTo(new Payload(noise, Payload.BYTES));
    }

    @Test
    void a_payload_that_was_never_compressed_is_read_as_it_is() {
        assertThat(codec.decode(new JsonCodec().encode("a"), TypeRef.of(String.class)))
                .isEqualTo("a");
    }

    @Test
    void a_zip_bomb_is_refused_without_unpacking_it() throws IOException {
        var bomb = gzip(new byte[64 << 20], 2);

        assertThat(bomb.length).isLessThan(1 << 20);
        assertThatThrownBy(() -> codec.decode(new Payload(bomb, PACKED_BYTES), BYTES))
                .isInstanceOf(Serialization.class)
                .hasMessageContaining(
                        "'application/octet-stream; encoding=gzip' for byte[] unpacks to more than 67108864 bytes")
                .hasMessageContaining("raise maxUnpacked");
    }

    @Test
    void the_limit_itself_is_still_allowed_and_one_byte_more_is_not() throws IOException {
        var small = new CompressingCodec(new JsonCodec(), 1, 1000);

        assertThat(small.decode(new Payload(gzip(new byte[1000], 1), PACKED_BYTES), BYTES))
                .hasSize(1000);

        var tooMuch = new Payload(gzip(new byte[1001], 1), PACKED_BYTES);
        assertThatThrownBy(() -> small.decode(tooMuch, BYTES)).isInstanceOf(Serialization.class);
    }

    @Test
    void a_payload_over_the_limit_is_not_compressed_so_that_it_can_be_read_again() {
        var small = new CompressingCodec(new JsonCodec(), 1, 1000);

        var payload = small.encode(new byte[1001]);

        assertThat(payload.contentType()).isEqualTo(Payload.BYTES);
        assertThat(small.decode(payload, BYTES)).hasSize(1001);
    }

    @Test
    void a_payload_that_was_cut_or_changed_is_refused() {
        var packed = codec.encode(new byte[5000]).bytes();
        var cut = Arrays.copyOf(packed, packed.length - 1);
        var changed = packed.clone();
        changed[changed.length - 6] ^= 1;

        for (var broken : new byte[][] {cut, changed, {}, {1, 2, 3}}) {
            assertThatThrownBy(() -> codec.decode(new Payload(broken, PACKED_BYTES), BYTES))
                    .isInstanceOf(Serialization.class)
                    .hasMessageContaining("is not valid gzip: it was cut or changed");
        }
    }

    @Test
    void limits_below_one_are_refused() {
        assertThatThrownBy(() -> new CompressingCodec(new JsonCodec(), 0, 1))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("threshold is 0");
        assertThatThrownBy(() -> new CompressingCodec(new JsonCodec(), 1, -5))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("maxUnpacked is -5");
    }

    private static byte[] gzip(byte[] bytes, int times) throws IOException {
        var packed = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(packed)) {
            for (int i = 0; i < times; i++) {
                gzip.write(bytes);
            }
        }
        return packed.toByteArray();
    }
}
