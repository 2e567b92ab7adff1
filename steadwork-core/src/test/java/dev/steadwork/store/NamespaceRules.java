package dev.steadwork.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.steadwork.Conflict;
import dev.steadwork.EventKind;
import dev.steadwork.NamespaceInfo;
import dev.steadwork.NotFound;
import dev.steadwork.PayloadLimits;
import dev.steadwork.RetryPolicy;
import dev.steadwork.RunInfo;
import dev.steadwork.TriggerCheck;
import dev.steadwork.Workflow;
import dev.steadwork.testing.Proves;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Namespaces: settings that are kept, and a door that can be shut. */
interface NamespaceRules extends StoreRules {

    private NamespaceInfo settings(boolean audit) {
        return new NamespaceInfo(
                namespace(),
                null,
                null,
                null,
                new NamespaceInfo.Retention(Duration.ofDays(1), null, Duration.ofNanos(5_000), Duration.ZERO),
                audit,
                Set.of(EventKind.CREATED, EventKind.STEP_COMPLETED),
                new PayloadLimits(10, 20),
                RetryPolicy.none());
    }

    private void disable() {
        store().createNamespace(NamespaceInfo.defaults(namespace()));
        store().enableNamespace(namespace(), false);
    }

    @Test
    @Proves("NS-1")
    default void a_namespace_that_was_never_created_has_the_defaults() {
        assertThat(store().findNamespace(namespace())).isEqualTo(NamespaceInfo.defaults(namespace()));
        assertThat(store().settings(namespace())).isEqualTo(NamespaceInfo.defaults(namespace()));
        assertThat(store().listNamespaces()).extracting(NamespaceInfo::name).doesNotContain(namespace());
    }

    @Test
    @Proves("NS-1")
    default void the_settings_of_a_namespace_are_kept() {
        var created = store().createNamespace(settings(true));

        assertThat(created)
                .usingRecursiveComparison()
                .ignoringFields("createdAt", "updatedAt")
                .isEqualTo(settings(true));
        assertThat(created.createdAt()).isNotNull().isEqualTo(created.updatedAt());
        assertThat(store().findNamespace(namespace())).isEqualTo(created);
        assertThat(store().settings(namespace())).isEqualTo(created);
        assertThat(store().listNamespaces()).contains(created);
    }

    @Test
    @Proves("NS-1")
    default void a_namespace_is_created_once() {
        var first = store().createNamespace(settings(true));

        assertThatThrownBy(() -> store().createNamespace(settings(false)))
                .isInstanceOf(Conflict.class)
                .hasMessageContaining(namespace());
        assertThat(store().findNamespace(namespace())).isEqualTo(first);
    }

    @Test
    @Proves("NS-1")
    default void what_is_not_there_is_neither_changed_nor_disabled() {
        assertThatThrownBy(() -> store().updateNamespace(namespace(), before -> before))
                .isInstanceOf(NotFound.class)
                .hasMessageContaining(namespace());
        assertThatThrownBy(() -> store().enableNamespace(namespace(), false)).isInstanceOf(NotFound.class);
        assertThat(store().findNamespace(namespace()).createdAt()).isNull();
    }

    @Test
    @Proves("NS-1")
    default void an_update_that_throws_changes_nothing() {
        var before = store().createNamespace(settings(true));

        assertThatThrownBy(() -> store().updateNamespace(namespace(), now -> {
                    throw new IllegalArgumentException("no");
                }))
                .hasMessageContaining("no");
        assertThat(store().findNamespace(namespace())).isEqualTo(before);
    }

    @Test
    @Proves("NS-1")
    default void a_disabled_namespace_takes_no_triggers() {
        var before = create(aRun().key("k"));
        disable();

        assertThat(trigger(aRun()).outcome()).isEqualTo(TriggerResult.Outcome.NAMESPACE_DISABLED);
        assertThat(trigger(aRun().key("k")).outcome()).isEqualTo(TriggerResult.Outcome.NAMESPACE_DISABLED);
        assertThat(store().triggerAll(List.of(aRun().build(), aRun().build())))
                .extracting(TriggerResult::outcome)
                .containsOnly(TriggerResult.Outcome.NAMESPACE_DISABLED);
        assertThat(store().listIds(namespace(), StoreRules.everything(), null, 10))
                .containsExactly(before);
    }

    @Test
    @Proves("NS-1")
    default void other_processes_take_no_triggers_of_a_disabled_namespace_either() {
        try (var other = openAnother(STALE_AFTER)) {
            other.settings(namespace());
            disable();

            var answers = other.write(List.of(new Write.Trigger(aRun().build())));

            assertThat(((TriggerResult) answers.get(0)).outcome()).isEqualTo(TriggerResult.Outcome.NAMESPACE_DISABLED);
        }
    }

    @Test
    @Proves("NS-1")
    default void what_a_run_of_a_disabled_namespace_starts_is_kept() {
        var parent = running();
        disable();

        var letter = trigger(aRun().parent(new RunInfo.Parent(parent.id(), null)));

        assertThat(letter.outcome()).isEqualTo(TriggerResult.Outcome.CREATED);
        assertThat(finish(parent, dev.steadwork.RunStatus.COMPLETED)).isEqualTo(Ack.STORED);
    }

    @Test
    @Proves("NS-1")
    default void a_disabled_namespace_hands_out_no_runs_until_it_is_enabled() {
        var run = create(aRun());
        disable();

        assertThat(claim(claimOf(TYPE, 10))).isEmpty();
        assertThat(store().claimLimited(claimOf(TYPE, 10))).contains(Claimed.NOTHING);

        store().enableNamespace(namespace(), true);
        assertThat(claim(claimOf(TYPE, 10))).containsExactly(run);
    }

    @Test
    @Proves("NS-1")
    default void another_process_learns_from_its_heartbeat_that_a_namespace_is_disabled() {
        try (var other = openAnother(STALE_AFTER)) {
            create(aRun());
            other.settings(namespace());
            disable();

            other.heartbeat(new Heartbeat(namespace(), "other", List.of(), 0, 0, 0, false));

            assertThat(other.claim(claimOf(TYPE, 10)).runs()).isEmpty();
        }
    }

    @Test
    @Proves("NS-1")
    default void runs_without_a_retry_policy_have_that_of_their_namespace() {
        register(
                Workflow.define("plain", String.class, String.class),
                Workflow.define("patient", String.class, String.class).retry(RetryPolicy.forever()));
        store().createNamespace(settings(false));

        assertThat(info(create(aRun())).retry()).isEqualTo(RetryPolicy.none());
        assertThat(info(create(new RunSpec(namespace(), "plain").check(TriggerCheck.REQUIRE_REGISTERED)))
                        .retry())
                .isEqualTo(RetryPolicy.none());
        assertThat(info(create(new RunSpec(namespace(), "patient"))).retry()).isEqualTo(RetryPolicy.forever());
        assertThat(info(create(aRun().retry(RetryPolicy.forever()))).retry()).isEqualTo(RetryPolicy.forever());
    }
}
