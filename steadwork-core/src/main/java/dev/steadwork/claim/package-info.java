/** 3: a worker takes a run: loop, slots, wake-ups, leases. */
@NullMarked
package dev.steadwork.claim;

import org.jspecify.annotations.NullMarked;
