package dev.steadwork;

import dev.steadwork.store.Store;
import java.util.function.UnaryOperator;

/** Lets the chaos runner put a store between the engine and its database that breaks a rule on purpose. */
public final class StoreSeam {
    private StoreSeam() {}

    public static Steadwork.Builder through(Steadwork.Builder builder, UnaryOperator<Store> around) {
        return builder.through(around);
    }
}
