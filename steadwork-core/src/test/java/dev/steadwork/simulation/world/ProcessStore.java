package dev.steadwork.simulation.world;

import dev.steadwork.RunId;
import dev.steadwork.simulation.Scheduler;
import dev.steadwork.simulation.SimulatedProcess;
import dev.steadwork.simulation.SimulatedThread;
import dev.steadwork.store.Ack;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.HeartbeatAnswer;
import dev.steadwork.store.Promotion;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import dev.steadwork.store.Write;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The database as one process sees it: every call is a point where others may come first, or something goes wrong. */
final class ProcessStore {
    private static final Set<String> WITHOUT_DATABASE = Set.of("lanes", "checkMayWrite", "close", "settings");

    private final Scheduler scheduler;
    private final Faults faults;
    private final History history;
    private final Store database;
    private final StaleWrites staleWrites;
    private final SimulatedProcess process;
    private final boolean mayCrash;
    private final Signals signals = new Signals();

    ProcessStore(
            Scheduler scheduler,
            Faults faults,
            History history,
            Store database,
            StaleWrites staleWrites,
            SimulatedProcess process,
            boolean mayCrash) {
        this.scheduler = scheduler;
        this.faults = faults;
        this.history = history;
        this.database = database;
        this.staleWrites = staleWrites;
        this.process = process;
        this.mayCrash = mayCrash;
    }

    Store store() {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(),
                new Class<?>[] {Store.class},
                (proxy, method, args) -> call(method, args));
    }

    Signals signals() {
        return signals;
    }

    SimulatedProcess process() {
        return process;
    }

    private Object call(Method method, Object[] args) throws Throwable {
        if (method.getName().equals("signals")) {
            return signals;
        }
        if (WITHOUT_DATABASE.contains(method.getName())) {
            return method.invoke(database, args);
        }
        var call = scheduler.isTraced() ? describe(method, args) : method.getName();
        faults.before(call, mayCrash);
        if (method.getName().equals("write") && faults.duplicates(call)) {
            deliverAgain(method, args, call);
        }
        var answer = make(method, args, call);
        faults.after(call, mayCrash);
        return answer;
    }

    private Object make(Method method, Object[] args, String call) throws Throwable {
        try {
            var answer = scheduler.undisturbed(() -> watched(method, args));
            if (scheduler.isTraced()) {
                scheduler.trace(call + describeAnswer(answer));
            }
            return answer;
        } catch (InvocationTargetException failed) {
            if (scheduler.isTraced()) {
                scheduler.trace(call + " -> " + failed.getCause());
            }
            throw failed.getCause();
        }
    }

    private Object watched(Method method, Object[] args) throws ReflectiveOperationException {
        var stale = method.getName().equals("write") ? staleWrites.before((List<?>) args[0]) : Map.<RunId, String>of();
        var answer = method.invoke(database, args);
        staleWrites.after(stale);
        if (answer instanceof Claimed claimed) {
            staleWrites.heard(claimed);
        }
        return answer;
    }

    /** The same request once more, some time later, whatever has happened since. */
    private void deliverAgain(Method method, Object[] args, String call) {
        var network = new SimulatedProcess("network");
        SimulatedThread.in(network, "duplicate", () -> {
                    scheduler.waitUntil(() -> false, scheduler.nanos() + faults.aWhile() / 4);
                    try {
                        make(method, args, "DUPLICATE " + call);
                    } catch (Throwable refused) {
                        return;
                    }
                })
                .start();
    }

    private String describe(Method method, Object[] args) {
        var name = method.getName();
        if (args == null || args.length == 0) {
            return name;
        }
        if (args[0] instanceof List<?> batch) {
            var writes = new ArrayList<String>();
            batch.forEach(write -> writes.add(write instanceof Write known ? describe(known) : String.valueOf(write)));
            return name + " " + writes;
        }
        if (args[0] instanceof Heartbeat heartbeat) {
            return name + " "
                    + heartbeat.held().stream()
                            .map(held -> name(held.run()) + " e" + held.epoch())
                            .toList();
        }
        return args[0] instanceof RunId run ? name + " " + name(run) : name;
    }

    private String describe(Write write) {
        var what = write.getClass().getSimpleName() + " " + name(write.run());
        if (write instanceof Write.SaveStep save) {
            what += " " + save.step().key().label() + " " + save.step().status();
        } else if (write instanceof Write.Finish finish) {
            what += " " + finish.status();
        } else if (write instanceof Write.Park park) {
            what += (park.sleep() == null ? "" : " " + park.sleep().key().label()) + " " + park.wake();
        }
        return write instanceof Write.Fenced fenced ? what + " e" + fenced.epoch() : what;
    }

    private String describeAnswer(Object answer) {
        if (answer instanceof Claimed claimed) {
            return " -> "
                    + claimed.runs().stream()
                            .map(run -> name(run.id()) + " e" + run.epoch() + " with "
                                    + run.steps().size() + " steps")
                            .toList();
        }
        if (answer instanceof List<?> answers && !answers.isEmpty() && answers.get(0) instanceof Ack) {
            return " -> " + answers.stream().map(ack -> ((Ack) ack).outcome()).toList();
        }
        if (answer instanceof HeartbeatAnswer heard) {
            return " -> "
                    + heard.held().keySet().stream().map(this::name).sorted().toList();
        }
        return answer instanceof Promotion promotion ? " -> " + promotion : "";
    }

    private String name(RunId run) {
        return history.name(run);
    }
}
