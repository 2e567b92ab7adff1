/** Real processes on a real database, faults, a history of what every process saw, and a checker that compares. */
@NullMarked
package dev.steadwork.chaos;

import org.jspecify.annotations.NullMarked;
