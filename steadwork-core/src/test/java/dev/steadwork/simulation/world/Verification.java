package dev.steadwork.simulation.world;

import dev.steadwork.Payload;
import dev.steadwork.RunId;
import dev.steadwork.RunInfo;
import dev.steadwork.RunStatus;
import dev.steadwork.StepInfo;
import dev.steadwork.StepStatus;
import dev.steadwork.TypeRef;
import dev.steadwork.codec.Payloads;
import dev.steadwork.store.Store;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Compares what is in the database in the end with what was seen on the way, and with a life without faults. */
record Verification(
        Store database,
        Connection sql,
        Payloads payloads,
        History history,
        Map<Integer, Program> programs,
        Collection<RunId> accepted,
        Collection<RunId> cancelled) {
    private static final TypeRef<String> TEXT = TypeRef.of(String.class);

    void verify() {
        var runs =
                new Ends(database, World.NAMESPACE).all().stream().collect(Collectors.toMap(RunInfo::id, run -> run));
        for (var run : accepted) {
            expect(runs.containsKey(run), "%s was accepted and is lost", run);
        }
        runs.values().forEach(run -> verify(run, runs));
        verifyKeys(runs);
        verifyCounts();
    }

    private void expect(boolean holds, String rule, RunId run, Object... details) {
        if (!holds) {
            var all = new ArrayList<Object>(List.of(history.name(run)));
            all.addAll(List.of(details));
            history.violated(rule.formatted(all.toArray()));
        }
    }

    private void verify(RunInfo run, Map<RunId, RunInfo> runs) {
        var program = programs.get(program(run));
        var expected = program.fails() ? RunStatus.FAILED : RunStatus.COMPLETED;
        if (run.status() == RunStatus.CANCELLED && mayBeCancelled(run)) {
            verifyCancelled(run, program);
            return;
        }
        expect(run.status() == expected, "%s ended as %s: %s", run.id(), run.status(), String.valueOf(run.error()));
        var steps = new HashMap<String, StepInfo>();
        database.steps(run.id()).forEach(step -> steps.put(step.name(), step));
        var results = new ArrayList<String>();
        for (var call : program.calls()) {
            results.add(result(run, program, call, steps, runs));
        }
        if (!program.fails()) {
            var output = payloads.decode(output(run.id()), TEXT);
            expect(
                    String.join(" ", results).equals(output),
                    "%s: its result is '%s', its steps say '%s'",
                    run.id(),
                    String.valueOf(output),
                    results);
        }
    }

    private boolean mayBeCancelled(RunInfo run) {
        var parent = run.parent();
        return cancelled.contains(parent == null ? run.id() : parent.run());
    }

    /** What was seen of it is recorded, and what can be undone is undone. */
    private void verifyCancelled(RunInfo run, Program program) {
        var steps = new HashMap<String, StepInfo>();
        database.steps(run.id()).forEach(step -> steps.put(step.name(), step));
        for (var seen : history.seen().entrySet()) {
            var step = steps.get(seen.getKey().step());
            if (seen.getKey().run().equals(run.id())
                    && step != null
                    && step.status() == StepStatus.COMPLETED
                    && step.childRun() == null) {
                recorded(run, step.name(), steps);
            }
        }
        for (var call : program.calls()) {
            if (call.kind() == Program.Kind.UNDO && steps.containsKey(call.named("undo"))) {
                expectStatus(run, call.named("undo"), StepStatus.COMPLETED, steps);
            }
        }
    }

    private Payload output(RunId run) {
        return database.ends(List.of(run)).get(0).output();
    }

    /** What the call's recorded steps say, which must be what every reader saw. */
    private String result(
            RunInfo run, Program program, Program.Call call, Map<String, StepInfo> steps, Map<RunId, RunInfo> runs) {
        return switch (call.kind()) {
            case STEP -> recorded(run, call.named("step"), steps);
            case RETRIED -> recorded(run, call.named("moody"), steps);
            case RETRIED_LATER -> recorded(run, call.named("late"), steps);
            case FAILED -> {
                expectStatus(run, call.named("broken"), StepStatus.FAILED, steps);
                yield "failed";
            }
            case SLEEP -> {
                expectStatus(run, call.named("nap"), StepStatus.COMPLETED, steps);
                yield "slept";
            }
            case PARALLEL -> recorded(run, call.named("left"), steps) + "+" + recorded(run, call.named("right"), steps);
            case MAP -> map(run, call, steps);
            case ANY -> String.valueOf(history.seen().get(new History.Place(run.id(), call.named("any"))));
            case CHILD -> child(run, call, steps, runs);
            case CHILD_BESIDE -> recorded(run, call.named("beside"), steps) + "+" + child(run, call, steps, runs);
            case SIGNAL -> recorded(run, call.named("go"), steps);
            case TIMEOUT -> {
                expectStatus(run, call.named("never"), StepStatus.FAILED, steps);
                yield "late";
            }
            case TRANSACTION -> recorded(run, call.named("sql"), steps);
            case UNDO -> {
                var status = program.fails() ? StepStatus.COMPLETED : StepStatus.WAITING;
                expectStatus(run, call.named("undo"), status, steps);
                yield "undoable";
            }
        };
    }

    private void expectStatus(RunInfo run, String label, StepStatus status, Map<String, StepInfo> steps) {
        var step = steps.get(label);
        expect(
                step != null && step.status() == status,
                "%s: step %s should be %s, is %s",
                run.id(),
                label,
                status,
                step == null ? "missing" : step.status());
    }

    private String recorded(RunInfo run, String label, Map<String, StepInfo> steps) {
        return recorded(run, label, label, steps);
    }

    /** @param place the name under which readers of the step are known */
    private String recorded(RunInfo run, String label, String place, Map<String, StepInfo> steps) {
        expectStatus(run, label, StepStatus.COMPLETED, steps);
        var step = steps.get(label);
        var value = step == null ? "missing" : String.valueOf(payloads.decode(step.output(), TEXT));
        var seen = history.seen().get(new History.Place(run.id(), place));
        expect(
                value.equals(seen),
                "%s: step %s is recorded as %s, its readers saw %s",
                run.id(),
                label,
                value,
                String.valueOf(seen));
        return value;
    }

    private String map(RunInfo run, Program.Call call, Map<String, StepInfo> steps) {
        var label = call.named("map");
        return recorded(run, label, label + "a", steps)
                + "+" + recorded(run, label + "#2", label + "b", steps)
                + "+" + recorded(run, label + "#3", label + "c", steps);
    }

    private String child(RunInfo run, Program.Call call, Map<String, StepInfo> steps, Map<RunId, RunInfo> runs) {
        var label = call.named("child");
        var step = steps.get(label);
        var child = step == null ? null : step.childRun();
        if (child == null || runs.get(child) == null) {
            expect(false, "%s: child %s is missing", run.id(), label);
            return "missing";
        }
        var value = runs.get(child).status() == RunStatus.COMPLETED
                ? String.valueOf(payloads.decode(output(child), TEXT))
                : "failed";
        var seen = history.seen().get(new History.Place(run.id(), label));
        expect(
                value.equals(seen),
                "%s: child %s ended with %s, its parent saw %s",
                run.id(),
                label,
                value,
                String.valueOf(seen));
        return value;
    }

    /** Each program was asked for once, or several times with the same key. */
    private void verifyKeys(Map<RunId, RunInfo> runs) {
        var asked = new HashMap<Integer, RunId>();
        for (var run : runs.values()) {
            var before = run.parent() == null ? asked.put(program(run), run.id()) : null;
            expect(
                    before == null,
                    "%s was triggered beside %s under the same key",
                    run.id(),
                    before == null ? "" : history.name(before));
        }
    }

    private int program(RunInfo run) {
        return payloads.decode(database.input(run.id()), TypeRef.of(Integer.class));
    }

    /** What transactional steps did was done once. */
    private void verifyCounts() {
        try (var query = sql.prepareStatement("SELECT key, value FROM simulated_count WHERE value <> 1");
                var rows = query.executeQuery()) {
            while (rows.next()) {
                history.violated("transactional step %s was committed %d times"
                        .formatted(rows.getString("key"), rows.getInt("value")));
            }
        } catch (SQLException failed) {
            throw new IllegalStateException(failed);
        }
    }
}
