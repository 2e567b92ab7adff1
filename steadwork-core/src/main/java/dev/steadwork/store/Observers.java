package dev.steadwork.store;

import dev.steadwork.Observer;
import dev.steadwork.RunStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells all observers of a process; costs next to nothing while there is none. */
public final class Observers implements Observer {
    private static final Logger log = LoggerFactory.getLogger(Observers.class);

    private final List<Observer> all = new CopyOnWriteArrayList<>();

    public void add(Observer observer) {
        all.add(observer);
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    private void tell(Consumer<Observer> what) {
        for (var observer : all) {
            try {
                what.accept(observer);
            } catch (RuntimeException | Error fault) {
                log.warn("Observer {} failed: {}", observer, fault.toString());
            }
        }
    }

    @Override
    public void runEnded(String type, RunStatus status) {
        tell(observer -> observer.runEnded(type, status));
    }

    @Override
    public void retried(String type) {
        tell(observer -> observer.retried(type));
    }

    @Override
    public void leaseLost(String type) {
        tell(observer -> observer.leaseLost(type));
    }

    @Override
    public void stepExecuted(String type, Duration took) {
        tell(observer -> observer.stepExecuted(type, took));
    }

    @Override
    public void claimed(int runs, Duration took) {
        tell(observer -> observer.claimed(runs, took));
    }

    @Override
    public void committed(int writes, Duration took) {
        tell(observer -> observer.committed(writes, took));
    }

    @Override
    public void woken(String type, Duration late) {
        tell(observer -> observer.woken(type, late));
    }
}
