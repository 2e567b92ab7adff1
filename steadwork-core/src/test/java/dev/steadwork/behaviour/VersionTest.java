package dev.steadwork.behaviour;

import static dev.steadwork.RunStatus.PENDING;
import static org.assertj.core.api.Assertions.assertThat;

import dev.steadwork.RunHandle;
import dev.steadwork.Workflow;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VersionTest extends EngineTest {
    private static final Workflow<String, String> RESIZE = Workflow.define("resize", String.class, String.class);

    @BeforeEach
    void register() {
        steadwork.register(RESIZE);
    }

    @Test
    @Proves("TRIG-9")
    void a_worker_that_declares_versions_takes_only_runs_of_them() {
        var older = trigger("v1");
        var unversioned = steadwork.workflow(RESIZE).trigger("x");
        var newer = trigger("v2");
        var newest = trigger("v3");

        serve("v2", "v3");

        assertThat(newest.await(PATIENCE)).isEqualTo("by v2,v3");
        assertThat(newer.await(PATIENCE)).isEqualTo("by v2,v3");
        assertThat(older.status()).isEqualTo(PENDING);
        assertThat(unversioned.status()).isEqualTo(PENDING);
    }

    @Test
    @Proves("TRIG-9")
    void a_worker_that_declares_none_takes_runs_of_any_version() {
        var versioned = trigger("v1");
        var unversioned = steadwork.workflow(RESIZE).trigger("x");

        serve();

        assertThat(versioned.await(PATIENCE)).isEqualTo("by ");
        assertThat(unversioned.await(PATIENCE)).isEqualTo("by ");
    }

    @Test
    @Proves("TRIG-9")
    void old_and_new_code_serve_their_own_runs_side_by_side() {
        serve("v1");
        serve("v2");

        for (int i = 0; i < 10; i++) {
            var older = trigger("v1");
            var newer = trigger("v2");

            assertThat(older.await(PATIENCE)).isEqualTo("by v1");
            assertThat(newer.await(PATIENCE)).isEqualTo("by v2");
        }
    }

    @Test
    @Proves("TRIG-9")
    void a_version_in_the_name_is_a_workflow_of_its_own() {
        var first = Workflow.define("resize.v1", String.class, String.class);
        var second = Workflow.define("resize.v2", String.class, String.class);
        steadwork
                .worker()
                .handle(first, (ctx, image) -> "first " + image)
                .handle(second, (ctx, image) -> "second " + image)
                .start();

        assertThat(steadwork.workflow(first).trigger("x").await(PATIENCE)).isEqualTo("first x");
        assertThat(steadwork.workflow(second).trigger("x").await(PATIENCE)).isEqualTo("second x");
    }

    private RunHandle<String> trigger(String version) {
        return steadwork.workflow(RESIZE).version(version).trigger("x");
    }

    private void serve(String... versions) {
        var worker = steadwork.worker().handle(RESIZE, (ctx, image) -> "by " + String.join(",", versions));
        for (var version : versions) {
            worker.version(version);
        }
        worker.start();
    }
}
