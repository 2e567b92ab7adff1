package dev.steadwork.store.jdbc;

import dev.steadwork.store.Signals;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What the processes that share a schema tell each other by NOTIFY. A payload is the tag of its sender, a letter for the
 * kind, and hashes of eight hexadecimal digits each.
 */
final class Notifications {
    /** Postgres allows payloads of less than 8,000 bytes. */
    private static final int MAX_HASHES = 980;

    /** Past this many hashes it is cheaper for everyone to look at everything. */
    private static final int MANY_HASHES = 8 * MAX_HASHES;

    private static final int TAG_LENGTH = 8;
    private static final int HASH_LENGTH = 8;

    /** The tag of what every process is to hear, the sender too. */
    private static final String EVERYONE = "--------";

    private static final HexFormat HEX = HexFormat.of();

    private final String schema;
    private final String ownTag = HEX.toHexDigits(ThreadLocalRandom.current().nextInt());

    /** What is told, and the letter that stands for it. */
    enum Kind {
        READY('r'),
        ENDED('e'),
        REQUESTED('q'),
        SETTINGS('s'),
        SCHEDULED('c'),
        GAP('g');

        private final char letter;

        Kind(char letter) {
            this.letter = letter;
        }
    }

    Notifications(String schema) {
        this.schema = schema;
    }

    String channel() {
        return "steadwork_" + schema;
    }

    /** Payloads that other processes hear. */
    List<String> payloads(Kind kind, Collection<Integer> hashes) {
        return payloads(ownTag, kind, hashes);
    }

    /** Payloads that every process hears, this one too. */
    static List<String> payloadsForAll(Kind kind, Collection<Integer> hashes) {
        return payloads(EVERYONE, kind, hashes);
    }

    private static List<String> payloads(String tag, Kind kind, Collection<Integer> hashes) {
        if (hashes.size() > MANY_HASHES) {
            return List.of(tag + Kind.GAP.letter);
        }
        var payloads = new ArrayList<String>();
        var all = List.copyOf(hashes);
        for (int from = 0; from < all.size(); from += MAX_HASHES) {
            var payload = new StringBuilder(tag).append(kind.letter);
            all.subList(from, Math.min(from + MAX_HASHES, all.size()))
                    .forEach(hash -> payload.append(HEX.toHexDigits(hash)));
            payloads.add(payload.toString());
        }
        return payloads;
    }

    /** Passes on what another process told; what is not understood may mean anything. */
    void receive(String payload, Signals signals) {
        if (payload.startsWith(ownTag)) {
            return;
        }
        char letter = payload.length() > TAG_LENGTH ? payload.charAt(TAG_LENGTH) : Kind.GAP.letter;
        if (letter == Kind.READY.letter) {
            signals.ready(hashes(payload));
        } else if (letter == Kind.ENDED.letter) {
            signals.ended(hashes(payload));
        } else if (letter == Kind.REQUESTED.letter) {
            hashes(payload).forEach(signals::requested);
        } else if (letter == Kind.SETTINGS.letter) {
            signals.settings();
        } else if (letter == Kind.SCHEDULED.letter) {
            hashes(payload).forEach(signals::scheduled);
        } else {
            signals.gap();
        }
    }

    private static List<Integer> hashes(String payload) {
        var hashes = new ArrayList<Integer>();
        for (int at = TAG_LENGTH + 1; at + HASH_LENGTH <= payload.length(); at += HASH_LENGTH) {
            hashes.add(HexFormat.fromHexDigits(payload, at, at + HASH_LENGTH));
        }
        return hashes;
    }
}
