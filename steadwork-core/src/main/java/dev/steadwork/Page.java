package dev.steadwork;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list. Pages follow each other by key, so nothing is skipped or repeated while rows are being added.
 *
 * @param <T> what is listed
 */
public final class Page<T> {
    private final List<T> items;
    private final @Nullable Supplier<Page<T>> next;

    public Page(List<T> items, @Nullable Supplier<Page<T>> next) {
        this.items = List.copyOf(items);
        this.next = next;
    }

    /** The items of this page. */
    public List<T> items() {
        return items;
    }

    /** Whether a further page may have items. */
    public boolean hasNext() {
        return next != null;
    }

    /** The next page; an empty one after the last. */
    public Page<T> next() {
        return next == null ? new Page<>(List.of(), null) : next.get();
    }
}
