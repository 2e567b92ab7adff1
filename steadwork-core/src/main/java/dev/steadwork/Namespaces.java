package dev.steadwork;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Tenants and how they are treated. A namespace needs no entry: one that was never created works with the defaults. Safe for
 * use by several threads.
 *
 * <pre>{@code
 * steadwork.namespaces().create("acme", n -> n.audit(true).keepCompleted(Duration.ofDays(30)));
 * steadwork.namespaces().disable("acme");
 * }</pre>
 *
 * <p>Settings are kept in the database. Other processes learn of a change at once where the database can tell them, and with
 * the next heartbeat of one of their workers (10 s by default) otherwise; a process without a worker looks when it triggers,
 * at most every 15 s. That a namespace is disabled counts for triggers of every process at once.
 */
public final class Namespaces {
    private final Source source;

    /** Where namespaces are kept. */
    public interface Source {
        NamespaceInfo create(NamespaceInfo namespace);

        NamespaceInfo find(String name);

        List<NamespaceInfo> list();

        NamespaceInfo update(String name, UnaryOperator<NamespaceInfo> change);

        NamespaceInfo enable(String name, boolean enabled);
    }

    Namespaces(Source source) {
        this.source = source;
    }

    /**
     * Creates a namespace with these settings.
     *
     * @throws Conflict if it exists
     */
    public NamespaceInfo create(String name, Consumer<NamespaceSpec> settings) {
        var defaults = NamespaceInfo.defaults(Check.name("namespace", name));
        return source.create(changed(defaults, Check.notNull("settings", settings)));
    }

    /** The namespace and its settings; the defaults if it was never created. */
    public NamespaceInfo describe(String name) {
        return source.find(Check.name("namespace", name));
    }

    /** All namespaces that were created, by name. */
    public List<NamespaceInfo> list() {
        return source.list();
    }

    /**
     * Changes settings. The consumer may be called again if somebody else changes them at the same time.
     *
     * @throws NotFound if it was never created
     */
    public NamespaceInfo update(String name, Consumer<NamespaceSpec> settings) {
        Check.notNull("settings", settings);
        return source.update(Check.name("namespace", name), before -> changed(before, settings));
    }

    /**
     * Takes no triggers any more, which are refused as {@link PreconditionFailed}, and hands out no runs. Workers stop to
     * claim from it no later than at their next heartbeat. What they execute goes on until it ends, sleeps or waits; children
     * and dead letters that such a run starts are kept, and wait. Timers pass, operators may act, and everything can be read.
     *
     * @throws NotFound if it was never created
     */
    public NamespaceInfo disable(String name) {
        return source.enable(Check.name("namespace", name), false);
    }

    /**
     * Takes triggers and hands out runs again.
     *
     * @throws NotFound if it was never created
     */
    public NamespaceInfo enable(String name) {
        return source.enable(Check.name("namespace", name), true);
    }

    private static NamespaceInfo changed(NamespaceInfo before, Consumer<NamespaceSpec> settings) {
        var spec = new NamespaceSpec(before);
        settings.accept(spec);
        return spec.applyTo(before);
    }
}
