package dev.steadwork.chaos;

import dev.steadwork.Steadwork;
import dev.steadwork.SteadworkException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumSet;

/** Lets processes work on a database while everything fails, and checks what is left. */
public final class Chaos {
    private static final Duration DRAIN = Duration.ofSeconds(90);
    /** What is broken on purpose may never end. */
    private static final Duration SHORT_DRAIN = Duration.ofSeconds(12);

    private static final Duration PROGRESS = Duration.ofSeconds(10);
    private static final int FREEZE_TRIES = 200;

    private final Options options;
    private final PrintStream out;
    private final Path folder;
    private final long began = System.nanoTime();

    private Chaos(Options options, PrintStream out, Path folder) {
        this.options = options;
        this.out = out;
        this.folder = folder;
    }

    public static void main(String[] arguments) throws IOException, SQLException {
        if (arguments.length == 1 && (arguments[0].equals("--help") || arguments[0].equals("-h"))) {
            System.out.print(Options.USAGE);
            return;
        }
        try {
            var verdict = run(Options.parse(arguments, System.currentTimeMillis()), System.out);
            System.exit(verdict.isGood() ? 0 : 1);
        } catch (Options.Bad bad) {
            System.err.println("chaos: " + bad.getMessage());
            System.err.print(Options.USAGE);
            System.exit(64);
        }
    }

    static Verdict run(Options options, PrintStream out) throws IOException, SQLException {
        var folder = options.keep() == null ? Files.createTempDirectory("steadwork-chaos-") : empty(options.keep());
        var work = Files.createTempDirectory("steadwork-chaos-database-");
        out.printf(
                "chaos on %s for %d s, seed %d, %.0f runs/s, lease %d ms%s%n",
                options.sqlite() ? "SQLite" : "Postgres",
                options.time().toSeconds(),
                options.seed(),
                options.rate(),
                options.lease().toMillis(),
                options.mutant() == Mutant.NONE ? "" : ", without the rule " + options.mutant());
        try (var target = target(options, work)) {
            var verdict = new Chaos(options, out, folder).run(target);
            out.println(verdict);
            if (!verdict.isGood() || options.keep() != null) {
                out.println("The history is in " + folder);
            } else {
                delete(folder);
            }
            return verdict;
        } catch (RuntimeException failed) {
            out.println("The history is in " + folder);
            throw failed;
        } finally {
            delete(work);
        }
    }

    /** Two histories in one folder would contradict each other. */
    private static Path empty(Path folder) throws IOException {
        Files.createDirectories(folder);
        try (var files = Files.list(folder)) {
            if (files.findAny().isPresent()) {
                throw new Options.Bad("--history is " + folder + ", which is not empty");
            }
        }
        return folder;
    }

    private static Target target(Options options, Path work) throws IOException, SQLException {
        return options.sqlite()
                ? SqliteTarget.create(work, (int) (128 + options.time().toMinutes() * 64))
                : PostgresTarget.start(work, options.seed());
    }

    private Verdict run(Target target) throws IOException, SQLException {
        try (var history = History.open(folder, "runner");
                var fleet = new Fleet(target, options, folder);
                var steadwork = Steadwork.open(target.url())) {
            Workflows.prepare(steadwork);
            say("the clock of the database is %d s ahead of the workers'"
                    .formatted(target.ahead().toSeconds()));
            fleet.startWorkers();
            awaitStarted("worker", FaultPlan.WORKERS);
            fleet.startClients();
            awaitStarted("client", Fleet.CLIENTS);
            plague(target, fleet, history);
            end(target, fleet, steadwork);
        }
        say("checking");
        return Verdict.of(Evidence.of(History.read(folder), new RecordsReader(target).read()), options.lease());
    }

    /** A process that is starting cannot be hurt much. */
    private void awaitStarted(String kind, int count) {
        long until = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (System.nanoTime() < until && started(kind) < count) {
            Pauses.pause(Duration.ofMillis(100));
        }
    }

    private long started(String kind) {
        try (var files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches(kind + "-.*\\" + History.SUFFIX))
                    .filter(file -> file.toFile().length() > 0)
                    .count();
        } catch (IOException e) {
            return 0;
        }
    }

    private void plague(Target target, Fleet fleet, History history) {
        var kinds = EnumSet.copyOf(target.faults());
        if (options.sqlite() && !kinds.contains(FaultKind.DISK_FULL)) {
            say("disk-full is left out: a small disk cannot be mounted here, which takes root");
        }
        if (!options.faults().isEmpty()) {
            kinds.retainAll(options.faults());
        }
        if (kinds.isEmpty()) {
            throw new Options.Bad("none of these faults is possible here: " + options.faults());
        }
        var plan = new FaultPlan(options.seed(), kinds, options.lease());
        var progress = new Progress(target, folder);
        long end = System.nanoTime() + options.time().toNanos();
        long nextProgress = System.nanoTime() + PROGRESS.toNanos();
        while (System.nanoTime() < end) {
            var fault = plan.next();
            fleet.watch(fault.pause(), this::say);
            if (System.nanoTime() >= end) {
                break;
            }
            inflict(fault, target, fleet, history);
            if (System.nanoTime() > nextProgress) {
                say(progress.line());
                nextProgress = System.nanoTime() + PROGRESS.toNanos();
            }
        }
    }

    private void inflict(Fault fault, Target target, Fleet fleet, History history) {
        say("%s %s, %d ms"
                .formatted(fault.kind(), victim(fault, fleet), fault.lasts().toMillis()));
        history.add(Kind.FAULT, "", fault.kind().toString(), 0, fault.toString());
        switch (fault.kind()) {
            case KILL -> {
                kill(fleet.worker(fault.lane()), history);
                Pauses.pause(fault.lasts());
                fleet.startWorker(fault.lane());
            }
            case KILL_CLIENT -> {
                kill(fleet.mortalClient(), history);
                Pauses.pause(fault.lasts());
                fleet.startMortalClient();
            }
            case FREEZE -> freeze(fleet.worker(fault.lane()), target, fault);
            case EXHAUST_POOL -> {
                fleet.worker(WorkerMain.OWN_POOL_LANE).tell(fault.lasts().toString());
                Pauses.pause(fault.lasts());
            }
            default -> target.inflict(fault, history);
        }
        history.add(Kind.HEALED, "", fault.kind().toString(), 0, "");
    }

    private static String victim(Fault fault, Fleet fleet) {
        return switch (fault.kind()) {
            case KILL, FREEZE -> fleet.worker(fault.lane()).name();
            case KILL_CLIENT -> fleet.mortalClient().name();
            default -> Integer.toString(fault.lane());
        };
    }

    private static void kill(ChildJvm child, History history) {
        history.add(Kind.KILLED, "", child.name(), 0, "");
        child.kill();
    }

    /** Between its writes on SQLite: whoever is frozen inside one keeps the only lock there is. */
    private static void freeze(ChildJvm worker, Target target, Fault fault) {
        for (int i = 0; i < FREEZE_TRIES; i++) {
            worker.freeze();
            if (!target.isBeingWritten()) {
                Pauses.pause(fault.lasts());
                break;
            }
            worker.thaw();
            Pauses.pause(Duration.ofMillis(5));
        }
        worker.thaw();
    }

    /** No more faults and no more load: what was accepted has to end. */
    private void end(Target target, Fleet fleet, Steadwork steadwork) throws SQLException {
        say("no more load");
        fleet.stopClients();
        disableSchedule(steadwork);
        var patience = options.mutant() == Mutant.NONE ? DRAIN : SHORT_DRAIN;
        long until = System.nanoTime() + patience.toNanos();
        var reader = new RecordsReader(target);
        while (System.nanoTime() < until && (reader.open() > 0 || fleet.hasClients())) {
            fleet.watch(Duration.ofMillis(200), this::say);
        }
        say("%d runs have not ended%s"
                .formatted(reader.open(), fleet.hasClients() ? ", and a client still waits for something" : ""));
    }

    private static void disableSchedule(Steadwork steadwork) {
        while (true) {
            try {
                steadwork.schedules().disable(Workflows.SCHEDULE);
                return;
            } catch (SteadworkException busy) {
                Pauses.pause(Duration.ofMillis(200));
            }
        }
    }

    private void say(String what) {
        out.printf("%8.1f s  %s%n", (System.nanoTime() - began) / 1e9, what);
        out.flush();
    }

    private static void delete(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
