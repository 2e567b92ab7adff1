package dev.steadwork.model;

import dev.steadwork.model.Explorer.Step;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * How two workers move one run of three steps through the database: a function, a sleep, and one that is first recorded as
 * waiting and then with its outcome, as a child, a signal or an undo step is. Messages are delayed, lost and repeated; workers crash, and
 * go on although their lease is gone.
 */
final class LeaseProtocol {
    static final int NOTHING = 0;
    static final int WAITING = -1;
    private static final int SLEEP_TICKS = 2;
    private static final int NO_TIMER = -1;
    private static final int MOST_MESSAGES = 3;

    /** Messages overtake each other, so their order makes no difference between states. */
    private static final Comparator<Message> ANY_ORDER = Comparator.comparingInt(Message::worker)
            .thenComparing(Message::kind)
            .thenComparingInt(Message::epoch)
            .thenComparingInt(Message::value)
            .thenComparingInt(Message::other);

    private final Rule removed;

    /** @param removed the rule that the database does not keep */
    LeaseProtocol(Rule removed) {
        this.removed = removed;
    }

    /** What keeps the protocol safe. */
    enum Rule {
        /** Nothing is removed. */
        NONE,
        /** A write counts only under the current epoch. */
        EPOCH_CHECK,
        /** What is recorded of a step stays. */
        FIRST_WRITE_WINS,
        /** A run that sleeps and its timer are one transaction. */
        ATOMIC_SLEEP,
        /** A claim raises the epoch, and so does the loss of a lease. */
        EPOCH_GROWS
    }

    enum Status {
        PENDING,
        RUNNING,
        SLEEPING,
        COMPLETED
    }

    enum Kind {
        FUNCTION,
        OTHER,
        PARK,
        TIMER,
        FINISH
    }

    enum Answer {
        NONE,
        STORED,
        LEASE_LOST
    }

    /** A worker's write on its way to the database. */
    record Message(int worker, Kind kind, int epoch, int value, int other) {}

    /** The run's row and its steps: what the function and the other step gave, and whether the sleep is recorded. */
    record Row(
            Status status,
            int epoch,
            boolean leaseIsOver,
            int function,
            boolean sleep,
            int other,
            int timer,
            int resultFunction,
            int resultOther) {}

    /** A worker, what it knows of the run's steps, and the write that it waits for. */
    record Worker(
            boolean holds,
            int epoch,
            int function,
            boolean sleep,
            int other,
            boolean parked,
            Message sent,
            Answer answer) {
        static final Worker IDLE = new Worker(false, 0, NOTHING, false, NOTHING, false, null, Answer.NONE);

        Worker sends(Message message) {
            return new Worker(holds, epoch, function, sleep, other, parked, message, Answer.NONE);
        }

        Worker hears(Answer heard) {
            return new Worker(holds, epoch, function, sleep, other, parked, sent, heard);
        }

        Worker knows(int newFunction, int newOther) {
            return new Worker(holds, epoch, newFunction, sleep, newOther, parked, null, Answer.NONE);
        }

        Worker hasParked() {
            return new Worker(holds, epoch, function, sleep, other, true, null, Answer.NONE);
        }
    }

    /** What nobody in the protocol knows, but the rules speak of. */
    record Witness(
            int functionExecutions,
            int otherExecutions,
            int functionSeen,
            int otherSeen,
            int functionAcknowledged,
            int otherAcknowledged,
            boolean sleepAsked,
            int slept,
            String violation) {
        Witness violated(String rule) {
            return violation != null
                    ? this
                    : new Witness(
                            functionExecutions,
                            otherExecutions,
                            functionSeen,
                            otherSeen,
                            functionAcknowledged,
                            otherAcknowledged,
                            sleepAsked,
                            slept,
                            rule);
        }

        Witness executed(Kind kind, int epoch) {
            int before = kind == Kind.FUNCTION ? functionAcknowledged : otherAcknowledged;
            var next = new Witness(
                    functionExecutions + (kind == Kind.FUNCTION ? 1 : 0),
                    otherExecutions + (kind == Kind.OTHER ? 1 : 0),
                    functionSeen,
                    otherSeen,
                    functionAcknowledged,
                    otherAcknowledged,
                    sleepAsked,
                    slept,
                    violation);
            return before > 0 && epoch >= before
                    ? next.violated("a step was executed again after its checkpoint was acknowledged")
                    : next;
        }

        /** A worker got this as the result of a step. */
        Witness saw(Kind kind, int value, int epoch, Row row) {
            boolean isFunction = kind == Kind.FUNCTION;
            int before = isFunction ? functionSeen : otherSeen;
            int recorded = isFunction ? row.function : row.other;
            var next = new Witness(
                    functionExecutions,
                    otherExecutions,
                    isFunction && before == NOTHING ? value : functionSeen,
                    !isFunction && before == NOTHING ? value : otherSeen,
                    isFunction && functionAcknowledged == 0 ? epoch : functionAcknowledged,
                    !isFunction && otherAcknowledged == 0 ? epoch : otherAcknowledged,
                    sleepAsked,
                    slept,
                    violation);
            if (before != NOTHING && before != value) {
                return next.violated("two readers saw different results of a step");
            }
            return recorded == value ? next : next.violated("a reader saw a result that is not the recorded one");
        }

        Witness asksToSleep() {
            return new Witness(
                    functionExecutions,
                    otherExecutions,
                    functionSeen,
                    otherSeen,
                    functionAcknowledged,
                    otherAcknowledged,
                    true,
                    slept,
                    violation);
        }

        Witness tick() {
            return new Witness(
                    functionExecutions,
                    otherExecutions,
                    functionSeen,
                    otherSeen,
                    functionAcknowledged,
                    otherAcknowledged,
                    sleepAsked,
                    sleepAsked ? Math.min(SLEEP_TICKS, slept + 1) : slept,
                    violation);
        }

        Witness passesSleep() {
            return slept < SLEEP_TICKS ? violated("a sleep was shorter than asked") : this;
        }
    }

    /** How many faults are left. */
    record Faults(int crashes, int expiries, int losses, int duplicates) {}

    /** Everything at one moment. */
    record State(Row row, Worker first, Worker second, List<Message> network, Witness witness, Faults faults) {
        Worker worker(int number) {
            return number == 0 ? first : second;
        }

        State with(int number, Worker worker) {
            return number == 0
                    ? new State(row, worker, second, network, witness, faults)
                    : new State(row, first, worker, network, witness, faults);
        }

        State with(Row changed) {
            return new State(changed, first, second, network, witness, faults);
        }

        State with(Witness changed) {
            return new State(row, first, second, network, changed, faults);
        }

        State with(List<Message> changed) {
            return new State(row, first, second, changed, witness, faults);
        }

        State with(Faults left) {
            return new State(row, first, second, network, witness, left);
        }

        State sending(Message message) {
            var messages = new ArrayList<>(network);
            messages.add(message);
            messages.sort(ANY_ORDER);
            return with(List.copyOf(messages))
                    .with(message.worker, worker(message.worker).sends(message));
        }

        State without(Message message) {
            var messages = new ArrayList<>(network);
            messages.remove(message);
            return with(List.copyOf(messages));
        }
    }

    static State start(Faults faults) {
        var row = new Row(Status.PENDING, 0, false, NOTHING, false, NOTHING, NO_TIMER, NOTHING, NOTHING);
        var witness = new Witness(0, 0, NOTHING, NOTHING, 0, 0, false, 0, null);
        return new State(row, Worker.IDLE, Worker.IDLE, List.of(), witness, faults);
    }

    static Optional<String> brokenRule(State state) {
        return Optional.ofNullable(state.witness.violation);
    }

    static boolean hasEnded(State state) {
        return state.row.status == Status.COMPLETED;
    }

    List<Step<State>> steps(State state) {
        var steps = new ArrayList<Step<State>>();
        if (hasEnded(state)) {
            return steps;
        }
        addTime(state, steps);
        for (int worker = 0; worker < 2; worker++) {
            if (state.worker(worker).holds) {
                addWork(state, worker, steps);
                addCrash(state, worker, steps);
            } else {
                addClaim(state, worker, steps);
            }
        }
        for (int i = 0; i < state.network.size(); i++) {
            addDelivery(state, state.network.get(i), steps);
        }
        return steps;
    }

    private void addTime(State state, List<Step<State>> steps) {
        var row = state.row;
        if (row.status == Status.SLEEPING && row.timer > 0) {
            var later = with(row, row.status, row.epoch, row.leaseIsOver, row.timer - 1);
            steps.add(calm("time passes", state.with(later).with(state.witness.tick())));
        }
        if (row.status == Status.SLEEPING && row.timer == 0) {
            steps.add(calm("the timer is due", state.with(with(row, Status.PENDING, row.epoch, false, NO_TIMER))));
        }
        if (row.status == Status.RUNNING && !row.leaseIsOver) {
            var over = state.with(with(row, row.status, row.epoch, true, row.timer));
            if (!isHeld(state)) {
                steps.add(calm("the lease ends", over));
            } else if (state.faults.expiries > 0) {
                var f = state.faults;
                var left = new Faults(f.crashes, f.expiries - 1, f.losses, f.duplicates);
                steps.add(new Step<>("the lease ends although its worker lives", true, over.with(left)));
            }
        }
        if (row.status == Status.RUNNING && row.leaseIsOver) {
            int epoch = removed == Rule.EPOCH_GROWS ? row.epoch - 1 : row.epoch + 1;
            steps.add(calm(
                    "the expired lease is taken back", state.with(with(row, Status.PENDING, epoch, false, NO_TIMER))));
        }
    }

    private static boolean isHeld(State state) {
        return (state.first.holds && state.first.epoch == state.row.epoch)
                || (state.second.holds && state.second.epoch == state.row.epoch);
    }

    private static Row with(Row row, Status status, int epoch, boolean leaseIsOver, int timer) {
        return new Row(
                status,
                epoch,
                leaseIsOver,
                row.function,
                row.sleep,
                row.other,
                timer,
                row.resultFunction,
                row.resultOther);
    }

    private static Step<State> calm(String action, State to) {
        return new Step<>(action, false, to);
    }

    private static String name(int worker) {
        return "worker " + (worker + 1);
    }

    private void addClaim(State state, int number, List<Step<State>> steps) {
        var row = state.row;
        if (row.status != Status.PENDING) {
            return;
        }
        var claimed = state.with(with(row, Status.RUNNING, row.epoch + 1, false, NO_TIMER));
        var witness = state.witness;
        if (row.function > 0) {
            witness = witness.saw(Kind.FUNCTION, row.function, row.epoch + 1, row);
        }
        if (row.sleep) {
            witness = witness.passesSleep();
        }
        if (row.other > 0) {
            witness = witness.saw(Kind.OTHER, row.other, row.epoch + 1, row);
        }
        var worker = new Worker(true, row.epoch + 1, row.function, row.sleep, row.other, false, null, Answer.NONE);
        steps.add(calm(
                "%s claims the run under epoch %d".formatted(name(number), row.epoch + 1),
                claimed.with(number, worker).with(witness)));
        if (state.faults.losses > 0) {
            steps.add(new Step<>(
                    "%s claims the run, but the answer is lost".formatted(name(number)),
                    true,
                    claimed.with(lost(state.faults))));
        }
    }

    private static Faults lost(Faults faults) {
        return new Faults(faults.crashes, faults.expiries, faults.losses - 1, faults.duplicates);
    }

    private void addWork(State state, int number, List<Step<State>> steps) {
        var worker = state.worker(number);
        addHeartbeat(state, number, steps);
        if (worker.answer != Answer.NONE) {
            steps.add(heard(state, number));
        } else if (worker.sent != null) {
            addResend(state, number, steps);
        } else {
            steps.add(next(state, number));
        }
    }

    private static void addHeartbeat(State state, int number, List<Step<State>> steps) {
        var row = state.row;
        boolean isCurrent = row.status == Status.RUNNING && row.epoch == state.worker(number).epoch;
        if (isCurrent && row.leaseIsOver) {
            steps.add(calm(
                    name(number) + " prolongs its lease in time after all",
                    state.with(with(row, row.status, row.epoch, false, row.timer))));
        } else if (!isCurrent) {
            steps.add(calm(name(number) + " hears that it has lost the run", state.with(number, Worker.IDLE)));
        }
    }

    /** What the worker does next when it waits for nothing. */
    private Step<State> next(State state, int number) {
        var worker = state.worker(number);
        if (worker.parked) {
            return send(state, new Message(number, Kind.TIMER, worker.epoch, 0, 0));
        }
        if (worker.function == NOTHING) {
            return execute(state, number, Kind.FUNCTION);
        }
        if (!worker.sleep) {
            return send(state.with(state.witness.asksToSleep()), new Message(number, Kind.PARK, worker.epoch, 0, 0));
        }
        if (worker.other == NOTHING) {
            return send(state, new Message(number, Kind.OTHER, worker.epoch, WAITING, 0));
        }
        if (worker.other == WAITING) {
            return execute(state, number, Kind.OTHER);
        }
        return send(state, new Message(number, Kind.FINISH, worker.epoch, worker.function, worker.other));
    }

    private static Step<State> execute(State state, int number, Kind kind) {
        int epoch = state.worker(number).epoch;
        var witness = state.witness.executed(kind, epoch);
        int value = kind == Kind.FUNCTION ? witness.functionExecutions : witness.otherExecutions;
        var message = new Message(number, kind, epoch, value, 0);
        return calm(
                "%s executes step %s and sends its result %d".formatted(name(number), kind, value),
                state.with(witness).sending(message));
    }

    private static Step<State> send(State state, Message message) {
        return calm("%s sends %s".formatted(name(message.worker), message.kind), state.sending(message));
    }

    private static void addResend(State state, int number, List<Step<State>> steps) {
        var sent = state.worker(number).sent;
        if (!state.network.contains(sent)) {
            steps.add(calm(name(number) + " sends it again", state.sending(sent)));
        } else if (state.faults.duplicates > 0 && state.network.size() < MOST_MESSAGES) {
            var f = state.faults;
            var left = new Faults(f.crashes, f.expiries, f.losses, f.duplicates - 1);
            steps.add(new Step<>(
                    "what %s sent is repeated on its way".formatted(name(number)),
                    true,
                    state.sending(sent).with(left)));
        }
    }

    private static void addCrash(State state, int number, List<Step<State>> steps) {
        if (state.faults.crashes > 0) {
            var f = state.faults;
            var left = new Faults(f.crashes - 1, f.expiries, f.losses, f.duplicates);
            steps.add(new Step<>(
                    name(number) + " crashes",
                    true,
                    state.with(number, Worker.IDLE).with(left)));
        }
    }

    private Step<State> heard(State state, int number) {
        var worker = state.worker(number);
        var sent = worker.sent;
        if (worker.answer == Answer.LEASE_LOST) {
            return calm(name(number) + " hears that its write came too late", state.with(number, Worker.IDLE));
        }
        var what = name(number) + " hears that it is stored";
        return switch (sent.kind) {
            case FUNCTION ->
                calm(
                        what,
                        state.with(number, worker.knows(sent.value, worker.other))
                                .with(seen(state, sent)));
            case OTHER ->
                calm(
                        what,
                        state.with(number, worker.knows(worker.function, sent.value))
                                .with(seen(state, sent)));
            case PARK ->
                calm(what, state.with(number, removed == Rule.ATOMIC_SLEEP ? worker.hasParked() : Worker.IDLE));
            case TIMER, FINISH -> calm(what, state.with(number, Worker.IDLE));
        };
    }

    private static Witness seen(State state, Message stored) {
        return stored.value > 0 ? state.witness.saw(stored.kind, stored.value, stored.epoch, state.row) : state.witness;
    }

    private void addDelivery(State state, Message message, List<Step<State>> steps) {
        var what = "the database takes %s of %s under epoch %d"
                .formatted(message.kind, name(message.worker), message.epoch);
        var changed = apply(state.row, message);
        var arrived = state.without(message).with(changed).with(witnessed(state, message, changed));
        var worker = state.worker(message.worker);
        boolean isAwaited = message.equals(worker.sent) && worker.answer == Answer.NONE;
        var answered = isAwaited ? arrived.with(message.worker, worker.hears(answer(state.row, message))) : arrived;
        steps.add(calm(what, answered));
        if (state.faults.losses > 0) {
            var left = lost(state.faults);
            if (isAwaited) {
                steps.add(new Step<>(what + ", the answer is lost", true, arrived.with(left)));
            }
            steps.add(new Step<>(
                    "%s of %s is lost".formatted(message.kind, name(message.worker)),
                    true,
                    state.without(message).with(left)));
        }
    }

    private Witness witnessed(State state, Message message, Row changed) {
        var before = state.row;
        var witness = state.witness;
        if (!changed.equals(before) && message.epoch != before.epoch) {
            witness = witness.violated("a write under a stale epoch took effect");
        }
        if (before.function > 0 && changed.function != before.function
                || before.other > 0 && changed.other != before.other) {
            witness = witness.violated("the recorded result of a step changed");
        }
        if (changed.status == Status.COMPLETED
                && (!changed.sleep
                        || changed.function <= 0
                        || changed.resultFunction != changed.function
                        || changed.resultOther != changed.other)) {
            witness = witness.violated("the run's result is not what its steps say");
        }
        return witness;
    }

    private boolean isHeldBy(Row row, Message message) {
        return row.status == Status.RUNNING && (removed == Rule.EPOCH_CHECK || row.epoch == message.epoch);
    }

    private Answer answer(Row row, Message message) {
        boolean wasMade = row.epoch == message.epoch
                && (message.kind == Kind.PARK && row.status != Status.COMPLETED
                        || message.kind == Kind.TIMER
                        || message.kind == Kind.FINISH && row.status == Status.COMPLETED);
        return isHeldBy(row, message) || wasMade ? Answer.STORED : Answer.LEASE_LOST;
    }

    private Row apply(Row row, Message message) {
        if (message.kind == Kind.TIMER) {
            return row.status == Status.SLEEPING && row.epoch == message.epoch
                    ? with(row, row.status, row.epoch, false, SLEEP_TICKS)
                    : row;
        }
        if (!isHeldBy(row, message)) {
            return row;
        }
        return switch (message.kind) {
            case FUNCTION -> kept(row, keep(row.function, message.value), row.sleep, row.other);
            case OTHER -> kept(row, row.function, row.sleep, keep(row.other, message.value));
            case PARK -> {
                int timer = removed == Rule.ATOMIC_SLEEP ? NO_TIMER : SLEEP_TICKS;
                yield with(kept(row, row.function, true, row.other), Status.SLEEPING, row.epoch, false, timer);
            }
            case FINISH ->
                new Row(
                        Status.COMPLETED,
                        row.epoch,
                        false,
                        row.function,
                        row.sleep,
                        row.other,
                        NO_TIMER,
                        message.value,
                        message.other);
            case TIMER -> row;
        };
    }

    private int keep(int recorded, int value) {
        boolean isFinal = recorded > 0;
        boolean isKnown = recorded == WAITING && value == WAITING;
        return (isFinal || isKnown) && removed != Rule.FIRST_WRITE_WINS ? recorded : value;
    }

    private static Row kept(Row row, int function, boolean sleep, int other) {
        return new Row(
                row.status,
                row.epoch,
                row.leaseIsOver,
                function,
                sleep,
                other,
                row.timer,
                row.resultFunction,
                row.resultOther);
    }
}
