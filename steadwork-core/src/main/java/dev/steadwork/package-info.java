/** Everything a user of Steadwork types, and nothing else. Start at {@link dev.steadwork.Steadwork}. */
@NullMarked
package dev.steadwork;

import org.jspecify.annotations.NullMarked;
