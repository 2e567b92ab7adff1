package dev.steadwork.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.InvalidArgument;
import dev.steadwork.Payload;
import dev.steadwork.Serialization;
import dev.steadwork.TypeRef;
import dev.steadwork.testing.Proves;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Proves("DATA-1")
class EncryptingCodecTest {
    private static final TypeRef<String> TEXT = TypeRef.of(String.class);
    private static final SecretKey OLD = key(1);
    private static final SecretKey NEW = key(2);

    private final EncryptingCodec before = new EncryptingCodec(new JsonCodec(), new Keys("old", Map.of("old", OLD)));
    private final EncryptingCodec after =
            new EncryptingCodec(new JsonCodec(), new Keys("new", Map.of("old", OLD, "new", NEW)));

    @Test
    void the_value_is_hidden_and_the_content_type_names_the_key() {
        var sealed = before.encode("attack at dawn");

        assertThat(sealed.contentType()).isEqualTo("application/json; cipher=aes-256-gcm; key=old");
        assertThat(new String(sealed.bytes(), StandardCharsets.ISO_8859_1)).doesNotContain("dawn");
        assertThat(before.decode(sealed, TEXT)).isEqualTo("attack at dawn");
    }

    @Test
    void the_bytes_are_nonce_then_ciphertext_then_tag_as_any_language_can_read() throws Exception {
        var sealed = before.encode("hi");
        var cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(Cipher.DECRYPT_MODE, OLD, new GCMParameterSpec(128, sealed.bytes(), 0, 12));
        cipher.updateAAD(sealed.contentType().getBytes(StandardCharsets.UTF_8));

        assertThat(cipher.doFinal(sealed.bytes(), 12, sealed.size() - 12))
                .asString()
                .isEqualTo("\"hi\"");
        assertThat(sealed.size()).isEqualTo(12 + 4 + 16);
    }

    @Test
    void the_same_value_never_looks_the_same_twice() {
        var nonces = new HashSet<String>();
        for (int i = 0; i < 1_000; i++) {
            var nonce = Arrays.copyOf(before.encode("same").bytes(), 12);
            nonces.add(Base64.getEncoder().encodeToString(nonce));
        }

        assertThat(nonces).hasSize(1_000);
    }

    @Test
    void after_a_rotation_old_payloads_are_read_and_new_ones_use_the_new_key() {
        var old = before.encode("old value");

        assertThat(after.decode(old, TEXT)).isEqualTo("old value");
        assertThat(after.encode("value").contentType()).endsWith("key=new");
    }

    @Test
    void a_stored_payload_that_is_written_again_gets_the_current_key() {
        var again = after.encode(before.encode("value"));

        assertThat(again.contentType()).isEqualTo("application/json; cipher=aes-256-gcm; key=new");
        assertThat(after.decode(again, TEXT)).isEqualTo("value");
    }

    @Test
    void an_unknown_key_is_refused_by_its_id() {
        var sealed = after.encode("value");

        assertThatThrownBy(() -> before.decode(sealed, TEXT))
                .isInstanceOf(Serialization.class)
                .hasMessageContaining("needs the key 'new', which is not among the keys of EncryptingCodec");
    }

    @Test
    void another_key_under_the_same_id_is_refused() {
        var impostor = new EncryptingCodec(new JsonCodec(), new Keys("old", Map.of("old", NEW)));
        var sealed = before.encode("value");

        assertThatThrownBy(() -> impostor.decode(sealed, TEXT))
                .isInstanceOf(Serialization.class)
                .hasMessageContaining("key=old' cannot be decrypted");
    }

    @Test
    void every_changed_byte_is_noticed() {
        var sealed = before.encode("value");
        for (int i = 0; i < sealed.size(); i++) {
            var changed = sealed.bytes().clone();
            changed[i] ^= 1;

            assertRefused(new Payload(changed, sealed.contentType()));
        }
    }

    @Test
    void every_cut_is_noticed() {
        var sealed = before.encode("value");
        for (int size = 0; size < sealed.size(); size++) {
            assertRefused(new Payload(Arrays.copyOf(sealed.bytes(), size), sealed.contentType()));
        }
    }

    @Test
    void a_changed_content_type_is_noticed() {
        var sealed = before.encode("value");
        var type = sealed.contentType();

        assertRefused(new Payload(sealed.bytes(), type.replace("application/json", Payload.BYTES)));
        assertRefused(new Payload(sealed.bytes(), type.replace("json;", "json; encoding=gzip;")));
    }

    @Test
    void a_changed_key_id_is_noticed_even_if_the_key_is_the_same() {
        var twins = new EncryptingCodec(new JsonCodec(), new Keys("a", Map.of("a", OLD, "b", OLD)));
        var sealed = twins.encode("value");
        var renamed = new Payload(sealed.bytes(), sealed.contentType().replace("key=a", "key=b"));

        assertThatThrownBy(() -> twins.decode(renamed, TEXT)).isInstanceOf(Serialization.class);
    }

    @Test
    void a_payload_from_before_encryption_is_read_as_it_is() {
        assertThat(before.decode(new JsonCodec().encode("plain"), TEXT)).isEqualTo("plain");
    }

    @Test
    void a_payload_is_compressed_before_it_is_encrypted() {
        var keys = new Keys("old", Map.of("old", OLD));
        var both = new EncryptingCodec(new CompressingCodec(new JsonCodec()), keys);

        var sealed = both.encode("x".repeat(100_000));

        assertThat(sealed.contentType()).isEqualTo("application/json; encoding=gzip; cipher=aes-256-gcm; key=old");
        assertThat(sealed.size()).isLessThan(1_000);
    }

    @Test
    void keys_are_never_printed() {
        var keys = new Keys("new", Map.of("old", OLD, "new", NEW));

        assertThat(keys).hasToString("Keys[new, old], current new");
    }

    @Test
    void a_current_id_without_a_key_is_refused() {
        assertThatThrownBy(() -> new Keys("next", Map.of("old", OLD)))
                .isInstanceOf(InvalidArgument.class)
                .hasMessage("The current key id is 'next'; it must be one of the keys [old].");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a;b", "a=b", "schlüssel", "a\n"})
    void a_key_id_that_does_not_fit_into_a_content_type_is_refused(String id) {
        assertThatThrownBy(() -> new Keys(id, Map.of(id, OLD)))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("a key id is 1 to 64 letters, digits, '.', '_' or '-'");
    }

    @Test
    void a_missing_key_is_refused() {
        var missing = new HashMap<String, SecretKey>();
        missing.put("k", null);

        assertThatThrownBy(() -> new Keys("k", missing))
                .isInstanceOf(InvalidArgument.class)
                .hasMessage("key 'k' must not be null.");
    }

    @Test
    void a_key_of_another_size_or_cipher_is_refused() {
        var small = new SecretKeySpec(new byte[16], "AES");
        var other = new SecretKeySpec(new byte[32], "ChaCha20");

        assertThatThrownBy(() -> new Keys("k", Map.of("k", small)))
                .isInstanceOf(InvalidArgument.class)
                .hasMessage("The key 'k' has 128 bits; it must have 256.");
        assertThatThrownBy(() -> new Keys("k", Map.of("k", other)))
                .isInstanceOf(InvalidArgument.class)
                .hasMessage("The key 'k' is for ChaCha20; it must be for AES.");
    }

    private void assertRefused(Payload payload) {
        assertThatThrownBy(() -> before.decode(payload, TEXT))
                .isInstanceOf(Serialization.class)
                .hasMessageContaining("cannot be decrypted");
    }

    private static SecretKey key(int seed) {
        var bytes = new byte[32];
        Arrays.fill(bytes, (byte) seed);
        return new SecretKeySpec(bytes, "AES");
    }
}
