package dev.steadwork.testing;

import dev.steadwork.Unavailable;
import dev.steadwork.store.Store;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * The store as a process sees it that dies at its n-th checkpoint: before the checkpoint reaches the database, or after it
 * has been committed and before the answer arrives. From then on nothing of that process reaches the database.
 */
public final class CrashingStore {
    private static final Set<String> CHECKPOINTS = Set.of("write", "transact");

    private final Store real;
    private final int crashAt;
    private final boolean afterCommit;
    private final CountDownLatch crashed = new CountDownLatch(1);
    private int checkpoints;

    public CrashingStore(Store real, int crashAt, boolean afterCommit) {
        this.real = real;
        this.crashAt = crashAt;
        this.afterCommit = afterCommit;
    }

    public Store store() {
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, args) -> {
                    if (method.getName().equals("signals")
                            || method.getName().equals("lanes")
                            || method.getName().equals("close")) {
                        return method.getName().equals("close") ? null : method.invoke(real, args);
                    }
                    if (hasCrashed()) {
                        throw dead();
                    }
                    boolean last = CHECKPOINTS.contains(method.getName()) && isLast();
                    if (last && !afterCommit) {
                        throw crash();
                    }
                    try {
                        var answer = method.invoke(real, args);
                        if (last) {
                            throw crash();
                        }
                        return answer;
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }

    private synchronized boolean isLast() {
        return ++checkpoints == crashAt;
    }

    public boolean hasCrashed() {
        return crashed.getCount() == 0;
    }

    private Unavailable crash() {
        crashed.countDown();
        return dead();
    }

    private static Unavailable dead() {
        return new Unavailable("This process is dead.", null);
    }
}
