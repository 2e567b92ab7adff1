package dev.steadwork.store.jdbc;

import dev.steadwork.Finding;
import java.util.List;

/** Looks at one thing that may be wrong with a database. */
@FunctionalInterface
interface Probe {
    /** @param check the name under which it tells what it found */
    List<Finding> look(String check);
}
