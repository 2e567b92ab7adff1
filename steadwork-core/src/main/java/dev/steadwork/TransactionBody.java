package dev.steadwork;

import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/**
 * SQL of the application that commits together with the step's result. Neither commits, rolls back nor closes the
 * connection; what it throws rolls everything back.
 */
@FunctionalInterface
public interface TransactionBody<T> {
    @Nullable
    T run(Connection connection) throws Exception;
}
