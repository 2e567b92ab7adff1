package dev.steadwork.codec;

import dev.steadwork.Check;
import dev.steadwork.InvalidArgument;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import javax.crypto.SecretKey;

/**
 * The AES-256 keys of an {@link EncryptingCodec}, by id. To rotate: first give every process the new key, then make it
 * the current one, and drop the old key only when no payload written with it is left.
 *
 * <pre>{@code
 * var key = new SecretKeySpec(thirtyTwoBytes, "AES");
 * var keys = new Keys("2026-07", Map.of("2026-01", oldKey, "2026-07", key));
 * }</pre>
 *
 * @param current the id of the key that new payloads are written with
 * @param byId every key that payloads may have been written with; an id is 1 to 64 letters, digits, '.', '_' or '-'
 */
public record Keys(String current, Map<String, SecretKey> byId) {
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final int KEY_BYTES = 32;

    public Keys {
        Check.notNull("keys", byId).forEach(Keys::check);
        byId = Map.copyOf(byId);
        if (!byId.containsKey(Check.notNull("current key id", current))) {
            throw new InvalidArgument("The current key id is '%s'; it must be one of the keys %s."
                    .formatted(current, new TreeSet<>(byId.keySet())));
        }
    }

    private static void check(String id, SecretKey key) {
        if (!ID.matcher(Check.notNull("key id", id)).matches()) {
            throw new InvalidArgument(
                    "The key id '%s' is not allowed; a key id is 1 to 64 letters, digits, '.', '_' or '-'."
                            .formatted(id));
        }
        if (!Check.notNull("key '" + id + "'", key).getAlgorithm().equals("AES")) {
            throw new InvalidArgument("The key '%s' is for %s; it must be for AES.".formatted(id, key.getAlgorithm()));
        }
        // A key that lives in a hardware module does not show its bytes.
        var bytes = key.getEncoded();
        if (bytes != null && bytes.length != KEY_BYTES) {
            throw new InvalidArgument("The key '%s' has %d bits; it must have 256.".formatted(id, bytes.length * 8));
        }
        if (bytes != null) {
            Arrays.fill(bytes, (byte) 0);
        }
    }

    /** The ids only, never a key. */
    @Override
    public String toString() {
        return "Keys%s, current %s".formatted(new TreeSet<>(byId.keySet()), current);
    }
}
