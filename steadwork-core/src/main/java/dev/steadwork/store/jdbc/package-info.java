/** How runs are kept in a database: statements, dialects, migrations, notifications. */
@NullMarked
package dev.steadwork.store.jdbc;

import org.jspecify.annotations.NullMarked;
