/** From lines of numbers to tables and charts. */
@NullMarked
package dev.steadwork.benchmarks.report;

import org.jspecify.annotations.NullMarked;
