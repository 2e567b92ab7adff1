/** What is kept of a run: the {@link dev.steadwork.store.Store} seam, its records, and the committer in front of it. */
@NullMarked
package dev.steadwork.store;

import org.jspecify.annotations.NullMarked;
