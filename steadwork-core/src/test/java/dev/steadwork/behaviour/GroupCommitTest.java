package dev.steadwork.behaviour;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.steadwork.RunHandle;
import dev.steadwork.Steadwork;
import dev.steadwork.Workflow;
import dev.steadwork.WorkflowContext;
import dev.steadwork.testing.CountingDataSource;
import dev.steadwork.testing.EngineTest;
import dev.steadwork.testing.Proves;
import java.util.Collections;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class GroupCommitTest extends EngineTest {
    private static final int RUNS = 256;
    private static final int CHECKPOINTS = RUNS * 3;
    private static final Workflow<Integer, Integer> COUNT = Workflow.define("count", Integer.class, Integer.class);

    private final CyclicBarrier together = new CyclicBarrier(RUNS);

    @Test
    @Proves("STEP-3")
    void concurrent_checkpoints_share_transactions() {
        try (var pool = new HikariDataSource()) {
            pool.setJdbcUrl(url);
            var counting = new CountingDataSource(pool);
            try (var engine = Steadwork.builder().dataSource(counting.counted()).open()) {
                engine.worker().handle(COUNT, this::count).concurrency(RUNS).start();
                long before = counting.transactions();

                var results = engine.workflow(COUNT).triggerAll(Collections.nCopies(RUNS, 1)).stream()
                        .map(RunHandle::future)
                        .toList();
                assertThat(results)
                        .allSatisfy(result ->
                                assertThat(result).succeedsWithin(PATIENCE).isEqualTo(4));

                assertThat(counting.transactions() - before).isLessThan(CHECKPOINTS / 4);
            }
        }
    }

    private int count(WorkflowContext ctx, int number) {
        int one = ctx.step("one", Integer.class, step -> nextTogether(number));
        int two = ctx.step("two", Integer.class, step -> nextTogether(one));
        return ctx.step("three", Integer.class, step -> nextTogether(two));
    }

    private int nextTogether(int number) throws Exception {
        together.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        return number + 1;
    }
}
