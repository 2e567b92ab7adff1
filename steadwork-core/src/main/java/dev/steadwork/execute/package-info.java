/** 4: user code runs: context, steps, replay; 5: checkpoints; 6: the end. */
@NullMarked
package dev.steadwork.execute;

import org.jspecify.annotations.NullMarked;
