package dev.steadwork;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Map;

/**
 * Names a type with its type arguments, which a {@code Class} cannot: {@code new TypeRef<List<Order>>() {}}.
 *
 * @param <T> the type that is named
 */
public abstract class TypeRef<T> {
    private static final Map<Class<?>, Class<?>> BOXED = Map.of(
            boolean.class, Boolean.class,
            byte.class, Byte.class,
            short.class, Short.class,
            char.class, Character.class,
            int.class, Integer.class,
            long.class, Long.class,
            float.class, Float.class,
            double.class, Double.class,
            void.class, Void.class);

    private final Type type;

    /** Captures the type argument of the subclass. */
    protected TypeRef() {
        if (!(getClass().getGenericSuperclass() instanceof ParameterizedType parameterized)) {
            throw new InvalidArgument("TypeRef needs a type argument: new TypeRef<List<Order>>() {}.");
        }
        this.type = parameterized.getActualTypeArguments()[0];
    }

    private TypeRef(Type type) {
        this.type = type;
    }

    /** The reference of a plain class; primitive classes are boxed. */
    public static <T> TypeRef<T> of(Class<T> type) {
        Check.notNull("type", type);
        return new TypeRef<>(BOXED.getOrDefault(type, type)) {};
    }

    /** The type that is named. */
    public final Type type() {
        return type;
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof TypeRef<?> ref && ref.type.equals(type);
    }

    @Override
    public final int hashCode() {
        return type.hashCode();
    }

    @Override
    public final String toString() {
        return type.getTypeName();
    }
}
