/** 1: a run is asked for, and its result waited for. */
@NullMarked
package dev.steadwork.trigger;

import org.jspecify.annotations.NullMarked;
