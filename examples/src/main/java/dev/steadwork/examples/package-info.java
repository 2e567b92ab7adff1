/** One runnable main per feature; start at {@link dev.steadwork.examples.Quickstart}. */
@NullMarked
package dev.steadwork.examples;

import org.jspecify.annotations.NullMarked;
