package dev.steadwork.store;

import static java.lang.reflect.Proxy.newProxyInstance;

import dev.steadwork.testing.TestDatabase;
import java.lang.reflect.InvocationTargetException;
import java.util.List;

/** What holds for claims also holds if each is opened first and kept at once. */
class OpenClaimStoreTest extends StoreContract {
    OpenClaimStoreTest() {
        super(TestDatabase.POSTGRES);
    }

    @Override
    public String table(String name) {
        return "steadwork." + name;
    }

    @Override
    public Store store() {
        var real = super.store();
        return (Store) newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, args) -> {
                    try {
                        return method.getName().equals("claim")
                                ? claim(real, (ClaimRequest) args[0])
                                : method.invoke(real, args);
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }

    /** The lease begins when the claim is kept: see {@link OpenClaimRules}. */
    @Override
    public void a_claimed_run_is_running_under_a_new_epoch_until_its_lease_ends() {}

    private static Claimed claim(Store real, ClaimRequest request) {
        var open = real.openClaim(request);
        if (open.isEmpty()) {
            return real.claim(request);
        }
        try (var claim = open.get()) {
            claim.keep(List.of());
            return claim.claimed();
        }
    }
}
