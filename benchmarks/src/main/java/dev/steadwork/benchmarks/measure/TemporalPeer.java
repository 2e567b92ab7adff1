package dev.steadwork.benchmarks.measure;

import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityOptions;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.testing.TestEnvironmentOptions;
import io.temporal.testing.TestWorkflowEnvironment;
import io.temporal.worker.WorkerFactoryOptions;
import io.temporal.worker.WorkerOptions;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

/** Temporal's in-memory test server: the cost of the SDK and its protocol only. Nothing is durable and no database is used. */
final class TemporalPeer {
    @ActivityInterface
    public interface Steps {
        int next(int i);
    }

    @WorkflowInterface
    public interface Three {
        @WorkflowMethod
        int run(int i);
    }

    public static final class ThreeActivities implements Three {
        private final Steps steps = Workflow.newActivityStub(
                Steps.class,
                ActivityOptions.newBuilder()
                        .setStartToCloseTimeout(Duration.ofMinutes(1))
                        .build());

        @Override
        public int run(int i) {
            return steps.next(steps.next(steps.next(i)));
        }
    }

    static void workflows() throws Exception {
        Turn.next(Turn.Phase.COLD);
        var env = TestWorkflowEnvironment.newInstance(TestEnvironmentOptions.newBuilder()
                .setUseTimeskipping(false)
                .setWorkerFactoryOptions(WorkerFactoryOptions.newBuilder()
                        .setUsingVirtualWorkflowThreads(true)
                        .build())
                .build());
        var worker = env.newWorker(
                "q",
                WorkerOptions.newBuilder()
                        .setMaxConcurrentActivityExecutionSize(200)
                        .setMaxConcurrentWorkflowTaskExecutionSize(200)
                        .build());
        worker.registerWorkflowImplementationTypes(ThreeActivities.class);
        worker.registerActivitiesImplementations((Steps) i -> i + 1);
        env.start();
        int n = Scale.SLOW_WORKFLOWS;
        Output.result("w4_cold_workflows_per_s", n / 4 / run(env.getWorkflowClient(), n / 4));
        Turn.next(Turn.Phase.WARM_UP);
        long start = System.nanoTime();
        while (Lanes.secondsSince(start) < Scale.WARM_SECONDS) {
            run(env.getWorkflowClient(), n / 4);
        }
        Turn.next(Turn.Phase.MEASURE);
        double seconds = run(env.getWorkflowClient(), n);
        Output.result("w4_direct_workflows_per_s", n / seconds);
        Output.result("w4_direct_steps_per_s", 3 * n / seconds);
    }

    private static double run(WorkflowClient client, int n) throws Exception {
        var inFlight = new Semaphore(256);
        var all = new ArrayList<CompletableFuture<Integer>>();
        long start = System.nanoTime();
        for (int i = 0; i < n; i++) {
            inFlight.acquire();
            var stub = client.newWorkflowStub(
                    Three.class, WorkflowOptions.newBuilder().setTaskQueue("q").build());
            WorkflowClient.start(stub::run, i);
            var result = WorkflowStub.fromTyped(stub).getResultAsync(Integer.class);
            all.add(result.whenComplete((value, failure) -> inFlight.release()));
        }
        for (var result : all) {
            result.get();
        }
        return Lanes.secondsSince(start);
    }
}
