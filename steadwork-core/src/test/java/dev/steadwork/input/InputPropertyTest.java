package dev.steadwork.input;

import static dev.steadwork.TriggerCheck.ACCEPT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.InvalidArgument;
import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.Steadwork;
import dev.steadwork.SteadworkException;
import dev.steadwork.Webhook;
import dev.steadwork.testing.PostgresServer;
import dev.steadwork.testing.TestDatabase;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AfterContainer;

/** Texts and bytes that nobody thought of, on every database. Other ones with {@code -Djqwik.tries.default=10000}. */
class InputPropertyTest {
    private static final String SEED = "20261116";
    private static final Map<TestDatabase, String> URLS = new EnumMap<>(TestDatabase.class);
    private static final Map<TestDatabase, Steadwork> ENGINES = new EnumMap<>(TestDatabase.class);

    @AfterContainer
    static void close() {
        ENGINES.values().forEach(Steadwork::close);
        ENGINES.clear();
        if (URLS.containsKey(TestDatabase.POSTGRES)) {
            PostgresServer.dropDatabase(URLS.get(TestDatabase.POSTGRES));
        }
        URLS.clear();
    }

    @Property(seed = SEED)
    void any_bytes_come_back_as_they_were_given(@ForAll TestDatabase database, @ForAll byte[] bytes) {
        var run = on(database).workflow("bytes").check(ACCEPT).triggerBytes(bytes, "application/octet-stream");

        assertThat(run.input()).isEqualTo(new Payload(bytes, "application/octet-stream"));
    }

    @Property(seed = SEED)
    void any_text_is_refused_as_a_name_or_comes_back_and_is_found(
            @ForAll TestDatabase database, @ForAll("texts") String text) {
        var engine = on(database);
        var before = engine.runs().count();
        if (isName(text)) {
            var run = engine.workflow("named")
                    .check(ACCEPT)
                    .queue(text)
                    .externalId(text)
                    .tag(text, text);
            var info = run.trigger(text).info();

            assertThat(info.queue()).isEqualTo(text);
            assertThat(info.externalId()).isEqualTo(text);
            assertThat(info.tags()).isEqualTo(Map.of(text, text));
            assertThat(engine.runs()
                            .queue(text)
                            .externalId(text)
                            .tag(text, text)
                            .page(100)
                            .items())
                    .extracting(RunInfo::id)
                    .contains(info.id());
            assertThat(engine.runs().queue(text).page(1000).items())
                    .extracting(RunInfo::queue)
                    .containsOnly(text);
        } else {
            assertThatThrownBy(() ->
                            engine.workflow("named").check(ACCEPT).queue(text).trigger("x"))
                    .isInstanceOf(InvalidArgument.class)
                    .hasMessageStartingWith("queue ");
            assertThat(engine.runs().count()).isEqualTo(before);
        }
    }

    @Property(seed = SEED)
    void any_text_is_refused_as_a_run_id_or_is_one(@ForAll("almostIds") String text) {
        try {
            assertThat(RunId.parse(text).toString()).isEqualTo(text.toLowerCase(Locale.ROOT));
        } catch (InvalidArgument refused) {
            assertThat(refused).hasMessageContaining("not a run id");
        }
    }

    @Property(seed = SEED)
    void any_text_is_refused_as_the_address_of_a_webhook_or_is_one(@ForAll("almostUrls") String text) {
        try {
            assertThat(Webhook.to(text, "a secret that signs").url().getScheme())
                    .startsWith("http");
        } catch (SteadworkException refused) {
            assertThat(refused).isInstanceOf(InvalidArgument.class).hasMessageContaining("webhook");
        }
    }

    @Provide
    Arbitrary<String> texts() {
        return Arbitraries.frequencyOf(
                Tuple.of(3, Arbitraries.strings().ofMaxLength(20)),
                Tuple.of(2, Arbitraries.strings().ofMinLength(250).ofMaxLength(260)),
                Tuple.of(
                        3,
                        Arbitraries.strings()
                                .withChars("a%_\\'\":?;{}[]$-/*.,\u0301\u202e")
                                .ofMaxLength(12)),
                Tuple.of(2, Arbitraries.of(Nasty.class).map(Nasty::text)));
    }

    @Provide
    Arbitrary<String> almostIds() {
        return Arbitraries.frequencyOf(
                Tuple.of(1, Arbitraries.strings().ofMaxLength(40)),
                Tuple.of(
                        3,
                        Arbitraries.strings()
                                .withChars("0123456789abcdefABCDEF-")
                                .ofLength(36)),
                Tuple.of(
                        3,
                        Arbitraries.integers()
                                .between(0, 35)
                                .map(at -> new StringBuilder("0192f0c1-7b3e-7cc1-8f4e-2b1f6d0c9a3e")
                                        .deleteCharAt(at)
                                        .insert((at * 7) % 36, at % 2 == 0 ? '-' : 'E')
                                        .toString())),
                Tuple.of(
                        1,
                        Arbitraries.create(() ->
                                java.util.UUID.nameUUIDFromBytes(new byte[] {1}).toString())));
    }

    @Provide
    Arbitrary<String> almostUrls() {
        var tail = Arbitraries.strings()
                .withChars("a0.:/@?#[]%\\ -_\u0000\u00e9\u4e00")
                .ofMaxLength(20);
        return Arbitraries.oneOf(
                Arbitraries.strings().ofMaxLength(40),
                tail.map(rest -> "https://" + rest),
                tail.map(rest -> "http://example.invalid" + rest));
    }

    private static boolean isName(String text) {
        return !text.isBlank()
                && text.length() <= 255
                && text.codePoints().noneMatch(c -> Character.isISOControl(c) || c >= 0xD800 && c <= 0xDFFF);
    }

    private static Steadwork on(TestDatabase database) {
        return ENGINES.computeIfAbsent(
                database, fresh -> Steadwork.open(URLS.computeIfAbsent(fresh, TestDatabase::newUrl)));
    }
}
