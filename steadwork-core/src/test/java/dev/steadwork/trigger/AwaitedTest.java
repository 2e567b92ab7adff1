package dev.steadwork.trigger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.RunId;
import dev.steadwork.store.Signals;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class AwaitedTest {
    private static final RunId RUN = new RunId(new UUID(0, 1));
    private static final RunId SAME_HASH = new RunId(new UUID(0, 1L << 32));

    private final Awaited awaited = new Awaited();
    private final AwaitedEnd first = new AwaitedEnd();
    private final AwaitedEnd second = new AwaitedEnd();

    @Test
    void all_who_wait_for_a_run_share_one_end() {
        assertThat(awaited.join(RUN, first)).isSameAs(first);
        assertThat(awaited.join(RUN, second)).isSameAs(first);
    }

    @Test
    void runs_with_the_same_hash_are_told_apart() {
        assertThat(Signals.hash(RUN)).isEqualTo(Signals.hash(SAME_HASH));
        awaited.join(RUN, first);
        awaited.join(SAME_HASH, second);

        assertThat(awaited.withHash(Signals.hash(RUN))).containsExactlyInAnyOrder(RUN, SAME_HASH);
        assertThat(awaited.remove(RUN, first)).isTrue();
        assertThat(awaited.get(RUN)).isNull();
        assertThat(awaited.get(SAME_HASH)).isSameAs(second);
    }

    @Test
    void only_what_stands_for_the_end_is_removed() {
        awaited.join(RUN, first);

        assertThat(awaited.remove(RUN, second)).isFalse();
        assertThat(awaited.get(RUN)).isSameAs(first);
    }

    @Test
    void nobody_waits_after_a_clear() {
        awaited.join(RUN, first);
        awaited.join(SAME_HASH, second);

        assertThat(awaited.clear()).containsExactlyInAnyOrder(first, second);
        assertThat(awaited.isEmpty()).isTrue();
        assertThat(awaited.runs()).isEmpty();
    }
}
