/** Beside the way: duties that every process does now and then, safe to do in all of them at once. */
@NullMarked
package dev.steadwork.maintain;

import org.jspecify.annotations.NullMarked;
