/** Chooses what is measured, starts the database and a process per measurement. */
@NullMarked
package dev.steadwork.benchmarks.harness;

import org.jspecify.annotations.NullMarked;
