package dev.steadwork.execute;

import dev.steadwork.RunId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Random values that a replay of the run sees again: derived from its id and how many were asked for before. */
final class Replayable {
    private final RunId run;
    private @Nullable Random random;
    private int uuids;

    Replayable(RunId run) {
        this.run = run;
    }

    Random random() {
        if (random == null) {
            random = new Random(digest("random", 0).getLong());
        }
        return random;
    }

    /** A version 4 UUID. */
    UUID uuid() {
        var bytes = digest("uuid", uuids++);
        long high = bytes.getLong() & ~0xF000L | 0x4000L;
        long low = bytes.getLong() & ~(3L << 62) | (1L << 63);
        return new UUID(high, low);
    }

    private ByteBuffer digest(String purpose, int number) {
        try {
            var sha = MessageDigest.getInstance("SHA-256");
            return ByteBuffer.wrap(sha.digest((run + "/" + purpose + "/" + number).getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException everyJvmHasIt) {
            throw new AssertionError(everyJvmHasIt);
        }
    }
}
