/** The demonstration that {@code ./steadwork demo} runs; start at {@link dev.steadwork.examples.demo.Demo}. */
@NullMarked
package dev.steadwork.examples.demo;

import org.jspecify.annotations.NullMarked;
