/** What runs in a measured process: the workloads, Steadwork and its peers. */
@NullMarked
package dev.steadwork.benchmarks.measure;

import org.jspecify.annotations.NullMarked;
