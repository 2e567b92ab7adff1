package dev.steadwork.codec;

import dev.steadwork.Check;
import dev.steadwork.Codec;
import dev.steadwork.Payload;
import dev.steadwork.Serialization;
import dev.steadwork.TypeRef;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import org.jspecify.annotations.Nullable;

/**
 * Encrypts the payloads of another codec with AES-256-GCM, so that the database and its backups hold nothing readable.
 * The bytes are a random nonce of 12 bytes, the encrypted bytes and a tag of 16 bytes. The content type names the key,
 * as in {@code application/json; cipher=aes-256-gcm; key=2026-07}, and is authenticated: a payload whose bytes or
 * content type were changed is refused.
 *
 * <p>A payload that is not encrypted is read as it is, so encryption can be switched on at any time. It hides values;
 * it does not stop someone who may write to the database from replacing a whole payload by another one. Rotate a key
 * before it has written four billion payloads, the limit for random nonces.
 */
public final class EncryptingCodec implements Codec {
    private static final String CIPHER = "AES/GCM/NoPadding";
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BYTES = 16;
    private static final Pattern SEALED = Pattern.compile("(.+); cipher=aes-256-gcm; key=([^; ]+)");

    private final Codec inner;
    private final Keys keys;
    private final SecureRandom random = new SecureRandom();

    /** Encrypts what the inner codec writes with the current key, and decrypts with any of the keys. */
    public EncryptingCodec(Codec inner, Keys keys) {
        this.inner = Check.notNull("inner codec", inner);
        this.keys = Check.notNull("keys", keys);
    }

    /** The encrypted payload of a value. One that is encrypted already, as from a dead letter, gets the current key. */
    @Override
    public Payload encode(@Nullable Object value) {
        var plain = open(inner.encode(value));
        return plain.isNone() ? plain : seal(plain);
    }

    @Override
    public <T> @Nullable T decode(Payload payload, TypeRef<T> type) {
        return inner.decode(open(payload), type);
    }

    private Payload seal(Payload plain) {
        var contentType = "%s; cipher=aes-256-gcm; key=%s".formatted(plain.contentType(), keys.current());
        var nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        var sealed = Arrays.copyOf(nonce, NONCE_BYTES + plain.size() + TAG_BYTES);
        try {
            cipher(Cipher.ENCRYPT_MODE, key(keys.current(), contentType), nonce, contentType)
                    .doFinal(plain.bytes(), 0, plain.size(), sealed, NONCE_BYTES);
        } catch (GeneralSecurityException unusable) {
            throw new Serialization("The key '%s' cannot encrypt.".formatted(keys.current()), unusable);
        }
        return new Payload(sealed, contentType);
    }

    private Payload open(Payload payload) {
        var contentType = payload.contentType();
        var parts = SEALED.matcher(contentType);
        return parts.matches() ? open(payload, parts.group(1), key(parts.group(2), contentType)) : payload;
    }

    private static Payload open(Payload sealed, String contentType, SecretKey key) {
        var bytes = sealed.bytes();
        if (bytes.length < NONCE_BYTES + TAG_BYTES) {
            throw new Serialization(
                    "A payload of '%s' cannot be decrypted: it was cut to %d bytes."
                            .formatted(sealed.contentType(), bytes.length),
                    null);
        }
        try {
            var nonce = Arrays.copyOf(bytes, NONCE_BYTES);
            var plain = cipher(Cipher.DECRYPT_MODE, key, nonce, sealed.contentType())
                    .doFinal(bytes, NONCE_BYTES, bytes.length - NONCE_BYTES);
            return new Payload(plain, contentType);
        } catch (GeneralSecurityException broken) {
            throw new Serialization(
                    "A payload of '%s' cannot be decrypted: it was changed, or its key is not the one it was written with."
                            .formatted(sealed.contentType()),
                    broken);
        }
    }

    private SecretKey key(String id, String contentType) {
        var key = keys.byId().get(id);
        if (key == null) {
            throw new Serialization(
                    "A payload of '%s' needs the key '%s', which is not among the keys of EncryptingCodec: add it."
                            .formatted(contentType, id),
                    null);
        }
        return key;
    }

    private static Cipher cipher(int mode, SecretKey key, byte[] nonce, String contentType)
            throws GeneralSecurityException {
        var cipher = Cipher.getInstance(CIPHER);
        cipher.init(mode, key, new GCMParameterSpec(TAG_BYTES * 8, nonce));
        cipher.updateAAD(contentType.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }
}
