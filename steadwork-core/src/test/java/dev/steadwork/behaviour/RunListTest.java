package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.CANCELLED;
import static dev.steadwork.RunStatus.COMPLETED;
import static dev.steadwork.RunStatus.FAILED;
import static dev.steadwork.RunStatus.PENDING;
import static dev.steadwork.RunStatus.RUNNING;
import static dev.steadwork.RunStatus.SLEEPING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.steadwork.DeadLetter;
import dev.steadwork.Page;
import dev.steadwork.PermanentFailure;
import dev.steadwork.RunHandle;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunQuery;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RunListTest extends EngineTest {
    private static final Workflow<String, String> PAY = Workflow.define("pay", String.class, String.class);
    private static final Workflow<String, String> SHIP = Workflow.define("ship", String.class, String.class);

    @BeforeEach
    void register() {
        steadwork.register(PAY, SHIP);
    }

    @Test
    @Proves("DATA-3")
    void a_list_begins_with_the_newest_run() {
        var first = steadwork.workflow(PAY).trigger("x");
        var second = steadwork.workflow(SHIP).trigger("x");
        var third = steadwork.workflow(PAY).trigger("x");

        assertThat(steadwork.runs().page(10).items())
                .extracting(RunInfo::id)
                .containsExactly(third.id(), second.id(), first.id());
        assertThat(steadwork.runs().page(10).items().get(0)).isEqualTo(third.info());
    }

    @Test
    @Proves("DATA-3")
    void runs_are_found_by_status() {
        var pending = steadwork.workflow(PAY).trigger("x");
        var sleeping = steadwork.workflow(PAY).delay(Duration.ofHours(1)).trigger("x");
        var cancelled = steadwork.workflow(PAY).trigger("x");
        cancelled.cancel();

        assertFinds(steadwork.runs().status(PENDING), pending);
        assertFinds(steadwork.runs().status(SLEEPING), sleeping);
        assertFinds(steadwork.runs().status(SLEEPING, CANCELLED), cancelled, sleeping);
        assertFinds(steadwork.runs().status(RUNNING, COMPLETED));
    }

    @Test
    @Proves("DATA-3")
    void runs_are_found_by_type_and_queue() {
        var paid = steadwork.workflow(PAY).trigger("x");
        var shipped = steadwork.workflow(SHIP).trigger("x");
        var vip = steadwork.workflow(PAY).queue("vip").trigger("x");

        assertFinds(steadwork.runs().type("pay"), vip, paid);
        assertFinds(steadwork.runs().type("ship"), shipped);
        assertFinds(steadwork.runs().queue("vip"), vip);
        assertFinds(steadwork.runs().type("ship").queue("vip"));
        assertFinds(steadwork.runs().type("p%"));
    }

    @Test
    @Proves("DATA-3")
    void runs_are_found_by_all_of_the_tags_given() {
        var both = steadwork
                .workflow(PAY)
                .tag("customer", "42")
                .tag("region", "eu")
                .trigger("x");
        var one = steadwork.workflow(PAY).tag("customer", "42").trigger("x");
        var odd = steadwork
                .workflow(PAY)
                .tag("say \"hi\"", "it's {a: 'b'} \\ 50%")
                .trigger("x");
        steadwork.workflow(PAY).trigger("x");

        assertFinds(steadwork.runs().tag("customer", "42"), one, both);
        assertFinds(steadwork.runs().tag("customer", "42").tag("region", "eu"), both);
        assertFinds(steadwork.runs().tag("customer", "4"));
        assertFinds(steadwork.runs().tag("customer", "42").tag("region", "us"));
        assertFinds(steadwork.runs().tag("say \"hi\"", "it's {a: 'b'} \\ 50%"), odd);
    }

    @Test
    @Proves("DATA-3")
    void runs_are_found_by_external_id() {
        var first = steadwork.workflow(PAY).externalId("order-7").trigger("x");
        var second = steadwork.workflow(SHIP).externalId("order-7").trigger("x");
        steadwork.workflow(PAY).externalId("order-70").trigger("x");

        assertFinds(steadwork.runs().externalId("order-7"), second, first);
    }

    @Test
    @Proves("DATA-3")
    void runs_are_found_by_when_they_were_created() {
        var first = steadwork.workflow(PAY).trigger("x");
        var second = triggeredAfter(first);
        var third = triggeredAfter(second);
        var middle = second.info().createdAt();

        assertFinds(steadwork.runs().createdAfter(middle), third, second);
        assertFinds(steadwork.runs().createdBefore(middle), first);
        assertFinds(
                steadwork.runs().createdAfter(middle).createdBefore(third.info().createdAt()), second);
        assertFinds(steadwork.runs().createdAfter(Instant.now().plus(Duration.ofDays(2))));
        assertFinds(steadwork.runs().createdBefore(Instant.EPOCH));
    }

    @Test
    @Proves("DATA-3")
    void runs_are_found_by_their_parent() {
        var letters = Workflow.define("letters", DeadLetter.class, String.class);
        steadwork.register(letters);
        work(PAY.deadLetter(letters), (ctx, input) -> {
            throw new PermanentFailure("no");
        });
        var parent = steadwork.workflow(PAY).trigger("x");
        var other = steadwork.workflow(PAY).trigger("x");
        awaitEnd(parent);
        awaitEnd(other);

        var children = steadwork.runs().parent(parent.id()).page(10).items();

        assertThat(children).hasSize(1);
        assertThat(children.get(0).type()).isEqualTo("letters");
        assertThat(children.get(0).parent().run()).isEqualTo(parent.id());
    }

    @Test
    @Proves("DATA-3")
    void runs_are_found_by_the_text_of_their_error() {
        work(PAY, (ctx, message) -> {
            throw new PermanentFailure(message);
        });
        var declined = steadwork.workflow(PAY).trigger("Card Declined: 100% sure");
        var expired = steadwork.workflow(PAY).trigger("card_expired");
        awaitEnd(declined);
        awaitEnd(expired);

        assertFinds(steadwork.runs().errorContains("card"), expired, declined);
        assertFinds(steadwork.runs().errorContains("CARD DECLINED"), declined);
        assertFinds(steadwork.runs().errorContains("100%"), declined);
        assertFinds(steadwork.runs().errorContains("card_"), expired);
        assertFinds(steadwork.runs().errorContains("PermanentFailure"), expired, declined);
        assertFinds(steadwork.runs().status(FAILED).errorContains("nothing like it"));
    }

    @Test
    @Proves({"DATA-3", "DATA-4"})
    void deleted_runs_are_hidden_unless_asked_for() {
        var kept = steadwork.workflow(PAY).trigger("x");
        var deleted = steadwork.workflow(PAY).trigger("x");
        deleted.delete("test");

        assertFinds(steadwork.runs(), kept);
        assertFinds(steadwork.runs().withDeleted(), deleted, kept);
    }

    @Test
    @Proves("DATA-3")
    void a_query_is_not_changed_by_its_filters() {
        var all = steadwork.runs();
        steadwork.workflow(PAY).tag("a", "b").trigger("x");

        assertThat(all.type("ship").count()).isZero();
        assertThat(all.tag("a", "c").count()).isZero();
        assertThat(all.count()).isEqualTo(1);
    }

    @Test
    @Proves("DATA-3")
    void pages_follow_each_other_to_the_end() {
        var ids = new ArrayList<RunId>();
        steadwork.workflow(PAY).triggerAll(Collections.nCopies(25, "x")).forEach(run -> ids.add(0, run.id()));

        var first = steadwork.runs().page(10);
        var second = first.next();
        var third = second.next();

        assertThat(first.items()).hasSize(10);
        assertThat(first.hasNext()).isTrue();
        assertThat(second.items()).hasSize(10);
        assertThat(third.items()).hasSize(5);
        assertThat(third.hasNext()).isFalse();
        assertThat(third.next().items()).isEmpty();
        assertThat(List.of(first, second, third))
                .flatExtracting(page -> page.items())
                .extracting(RunInfo::id)
                .isEqualTo(ids);
    }

    @Test
    @Proves("DATA-3")
    void a_last_page_that_is_full_is_followed_by_an_empty_one() {
        steadwork.workflow(PAY).triggerAll(Collections.nCopies(10, "x"));

        var last = steadwork.runs().page(5).next();

        assertThat(last.items()).hasSize(5);
        assertThat(last.next().items()).isEmpty();
        assertThat(last.next().hasNext()).isFalse();
    }

    @Test
    @Proves("DATA-3")
    void filters_hold_on_every_page() {
        for (int i = 0; i < 30; i++) {
            steadwork.workflow(i % 3 == 0 ? PAY : SHIP).trigger("x");
        }

        assertThat(allPages(steadwork.runs().type("pay"), 4)).hasSize(10).doesNotHaveDuplicates();
    }

    @Test
    @Proves("DATA-3")
    void paging_skips_and_repeats_nothing_while_runs_are_added() {
        var before = steadwork.workflow(PAY).triggerAll(Collections.nCopies(300, "x")).stream()
                .map(RunHandle::id)
                .toList();
        var done = new AtomicBoolean();
        var adding = CompletableFuture.runAsync(() -> {
            while (!done.get()) {
                steadwork.workflow(PAY).trigger("added");
            }
        });
        await().atMost(PATIENCE).until(() -> steadwork.runs().count() > 300);

        for (int round = 0; round < 5; round++) {
            var seen = allPages(steadwork.runs(), 7);

            assertThat(seen).doesNotHaveDuplicates().containsAll(before);
            assertThat(seen).isSortedAccordingTo(Collections.reverseOrder());
        }
        done.set(true);
        adding.join();
    }

    @Test
    @Proves("DATA-3")
    void paging_skips_nothing_while_runs_are_deleted() {
        var runs = steadwork.workflow(PAY).triggerAll(Collections.nCopies(30, "x"));
        var kept = runs.subList(0, 20).stream().map(RunHandle::id).toList();

        var first = steadwork.runs().page(10);
        runs.subList(20, 30).forEach(run -> run.delete("gone"));

        var rest = allPages(first.next());
        assertThat(rest).containsExactlyInAnyOrderElementsOf(kept);
    }

    @SafeVarargs
    private static void assertFinds(RunQuery query, RunHandle<String>... newestFirst) {
        var expected = List.of(newestFirst).stream().map(RunHandle::id).toList();

        assertThat(query.page(100).items()).extracting(RunInfo::id).isEqualTo(expected);
        assertThat(query.count()).isEqualTo(expected.size());
    }

    private static List<RunId> allPages(RunQuery query, int size) {
        return allPages(query.page(size));
    }

    private static List<RunId> allPages(Page<RunInfo> first) {
        var ids = new ArrayList<RunId>();
        for (var page = first; !page.items().isEmpty(); page = page.next()) {
            page.items().forEach(run -> ids.add(run.id()));
        }
        return ids;
    }

    private static void awaitEnd(RunHandle<String> run) {
        await().atMost(PATIENCE).until(() -> run.status().isTerminal());
    }

    /** A run of a later time, whatever the clock's resolution. */
    private RunHandle<String> triggeredAfter(RunHandle<String> earlier) {
        var time = earlier.info().createdAt();
        await().atMost(PATIENCE).until(() -> Instant.now().isAfter(time.plusMillis(5)));
        return steadwork.workflow(PAY).trigger("x");
    }
}
