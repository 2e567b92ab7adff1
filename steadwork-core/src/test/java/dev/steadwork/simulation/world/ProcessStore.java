package dev.steadwork.simulation.world;

import dev.steadwork.RunId;
import dev.steadwork.Unavailable;
import dev.steadwork.simulation.Scheduler;
import dev.steadwork.simulation.SimulatedProcess;
import dev.steadwork.simulation.SimulatedThread;
import dev.steadwork.store.Ack;
import dev.steadwork.store.ClaimRequest;
import dev.steadwork.store.Claimed;
import dev.steadwork.store.ClaimedRun;
import dev.steadwork.store.Heartbeat;
import dev.steadwork.store.HeartbeatAnswer;
import dev.steadwork.store.OpenClaim;
import dev.steadwork.store.Promotion;
import dev.steadwork.store.Signals;
import dev.steadwork.store.Store;
import dev.steadwork.store.Write;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

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
    private int opened;
    /** Epochs that this process may not use, or not yet: somebody else may have the run under the same one. */
    private final Set<Unheld> unheld = new HashSet<>();

    private record Unheld(RunId run, long epoch) {}

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
        if (method.getName().equals("openClaim")) {
            var claim = Store.class.getMethod("claim", ClaimRequest.class);
            return Optional.of(new KeptLater((Claimed) call(claim, args)));
        }
        var call = scheduler.isTraced() ? describe(method, args) : method.getName();
        checkHeld(method, args);
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

    private void checkHeld(Method method, Object[] args) {
        var used = new ArrayList<Unheld>();
        if (method.getName().equals("write")) {
            ((List<?>) args[0]).forEach(write -> {
                if (write instanceof Write.Fenced fenced) {
                    used.add(new Unheld(fenced.run(), fenced.epoch()));
                }
            });
        } else if (method.getName().equals("transact")) {
            used.add(new Unheld((RunId) args[0], (long) args[1]));
        } else if (method.getName().equals("heartbeat")) {
            ((Heartbeat) args[0]).held().forEach(held -> used.add(new Unheld(held.run(), held.epoch())));
        }
        used.retainAll(unheld);
        used.forEach(one -> history.violated(
                "%s: %s under epoch %d, which is not held".formatted(name(one.run), method.getName(), one.epoch)));
    }

    /**
     * An open claim over a database that has none: its runs are leased at once, and handed back if it is lost. Nobody can tell the
     * difference, unless the process dies: then they are free when their leases end.
     */
    private final class KeptLater implements OpenClaim {
        private final Claimed claimed;
        private boolean decided;

        KeptLater(Claimed claimed) {
            this.claimed = claimed;
            opened += claimed.runs().size();
            claimed.runs().forEach(run -> unheld.add(new Unheld(run.id(), run.epoch())));
        }

        @Override
        public Claimed claimed() {
            return claimed;
        }

        @Override
        public Set<RunId> keep(List<Write.Finish> ends) {
            var call = "keep " + ends.stream().map(ProcessStore.this::describe).toList();
            boolean again = decided;
            decided = true;
            try {
                faults.before(call, mayCrash);
            } catch (Unavailable requestLost) {
                handBack(again);
                throw requestLost;
            }
            if (!again) {
                write(ends);
            }
            faults.after(call, mayCrash);
            if (again) {
                return Set.of(); // somebody else may have taken them
            }
            claimed.runs().forEach(run -> unheld.remove(new Unheld(run.id(), run.epoch())));
            return claimed.runs().stream().map(ClaimedRun::id).collect(Collectors.toSet());
        }

        private void handBack(boolean again) {
            if (!again) {
                var releases = claimed.runs().stream()
                        .map(run -> new Write.Release(run.id(), run.epoch()))
                        .toList();
                write(releases);
            }
        }

        private void write(List<? extends Write.Fenced> writes) {
            try {
                make(Store.class.getMethod("write", List.class), new Object[] {writes}, "of an open claim");
            } catch (Throwable failed) {
                throw new IllegalStateException(failed);
            }
        }

        @Override
        public void close() {
            handBack(decided);
            decided = true;
        }
    }

    /** How many runs were claimed in this way. */
    int opened() {
        return opened;
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
