/** Micrometer meters; the only package that knows Micrometer, which is an optional dependency. */
@NullMarked
package dev.steadwork.metrics;

import org.jspecify.annotations.NullMarked;
