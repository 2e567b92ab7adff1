package dev.steadwork.trigger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.RunStatus;
import dev.steadwork.store.RunEnd;
import dev.steadwork.store.RunIds;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import dev.steadwork.testing.Proves;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who awaits a run that this process executes is told its end, and looks at the database all the same. */
class ResultsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LONG = Duration.ofHours(1);

    private final Signals signals = new Signals();
    private final Set<RunId> ended = ConcurrentHashMap.newKeySet();
    private final Results results = new Results(storeWithEnds(), LONG, run -> true);

    @AfterEach
    void close() {
        results.close();
    }

    @Test
    @Proves("RESULT-1")
    void an_end_by_somebody_else_is_found_without_being_told() {
        var run = newRun();
        ended.add(run);

        assertThat(results.future(run, told -> told)).succeedsWithin(PATIENCE);
    }

    @Test
    @Proves("RESULT-1")
    void it_is_found_also_after_others_were_told_and_nobody_waited_for_a_moment() throws InterruptedException {
        awaitAndTell(newRun());
        Thread.sleep(200);
        awaitAndTell(newRun());
        Thread.sleep(100);

        var run = newRun();
        ended.add(run);

        assertThat(results.future(run, told -> told)).succeedsWithin(PATIENCE);
    }

    @Test
    void what_is_done_with_a_result_does_not_hold_up_who_tells_it() {
        var run = newRun();
        var goOn = new CompletableFuture<Void>();
        var blocked = results.future(run, told -> goOn.join());

        tell(run);

        assertThat(blocked).isNotDone();
        goOn.complete(null);
        assertThat(blocked).succeedsWithin(PATIENCE);
    }

    private void awaitAndTell(RunId run) {
        var end = results.future(run, told -> told);
        tell(run);
        assertThat(end).succeedsWithin(PATIENCE);
    }

    private void tell(RunId run) {
        try (var ending = results.ending(run)) {
            ending.stored(endOf(run));
        }
    }

    private static RunId newRun() {
        return RunIds.next("test", null);
    }

    private static RunEnd endOf(RunId run) {
        return new RunEnd(run, RunStatus.COMPLETED, Payload.NONE, null);
    }

    private Store storeWithEnds() {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(),
                new Class<?>[] {Store.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "signals" -> signals;
                    case "ends" ->
                        ((Collection<?>) arguments[0])
                                .stream()
                                        .map(RunId.class::cast)
                                        .filter(ended::contains)
                                        .map(ResultsTest::endOf)
                                        .toList();
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }
}
