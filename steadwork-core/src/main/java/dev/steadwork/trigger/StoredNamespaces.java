package dev.steadwork.trigger;

import dev.steadwork.NamespaceInfo;
import dev.steadwork.Namespaces;
import java.util.List;
import java.util.function.UnaryOperator;

/** The namespaces of the database. */
public record StoredNamespaces(Engine engine) implements Namespaces.Source {
    @Override
    public NamespaceInfo create(NamespaceInfo namespace) {
        return engine.store().createNamespace(namespace);
    }

    @Override
    public NamespaceInfo find(String name) {
        return engine.store().findNamespace(name);
    }

    @Override
    public List<NamespaceInfo> list() {
        return engine.store().listNamespaces();
    }

    @Override
    public NamespaceInfo update(String name, UnaryOperator<NamespaceInfo> change) {
        return engine.store().updateNamespace(name, change);
    }

    @Override
    public NamespaceInfo enable(String name, boolean enabled) {
        return engine.store().enableNamespace(name, enabled);
    }
}
