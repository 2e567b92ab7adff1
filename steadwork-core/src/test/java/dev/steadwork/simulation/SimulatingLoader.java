package dev.steadwork.simulation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Loads the engine as it is, but with what waits, reads a clock or draws a random number redirected to the simulation. So
 * the code that is simulated is the code that is shipped, and needs no seam for it.
 */
public final class SimulatingLoader extends ClassLoader {
    private static final String ENGINE = "dev.steadwork.";
    private static final String RUNTIME = "dev.steadwork.simulation.";
    private static final String WORLD = "dev.steadwork.simulation.world.";
    private static final String HERE = "dev/steadwork/simulation/";
    private static final String REDIRECTED = HERE + "Redirected";
    private static final int API = Opcodes.ASM9;

    /** What is constructed instead. */
    private static final Map<String, String> CONSTRUCTED = Map.of(
            "java/util/concurrent/Semaphore", HERE + "SimulatedSemaphore",
            "java/util/concurrent/LinkedBlockingQueue", HERE + "SimulatedQueue",
            "java/util/concurrent/CountDownLatch", HERE + "SimulatedLatch",
            "java/util/concurrent/CompletableFuture", HERE + "SimulatedFuture",
            "java/util/concurrent/locks/ReentrantLock", HERE + "SimulatedLock",
            "java/lang/Thread", HERE + "SimulatedThread");

    /** Static methods, and methods of objects, that are static ones of {@link Redirected} instead. */
    private static final Set<String> CALLED = Set.of(
            "java/lang/System.nanoTime",
            "java/lang/System.currentTimeMillis",
            "java/time/Instant.now",
            "java/lang/Thread.sleep",
            "java/lang/Thread.interrupted",
            "java/lang/Thread.currentThread",
            "java/lang/Thread.join",
            "java/lang/Thread.isAlive",
            "java/lang/Runtime.addShutdownHook",
            "java/lang/Runtime.removeShutdownHook",
            "java/util/Set.copyOf",
            "java/util/Map.copyOf",
            "java/util/concurrent/TimeUnit.sleep",
            "java/util/concurrent/locks/LockSupport.park",
            "java/util/concurrent/locks/LockSupport.parkNanos",
            "java/util/concurrent/locks/LockSupport.unpark",
            "org/slf4j/LoggerFactory.getLogger",
            "dev/steadwork/execute/Threads.perTask");

    private static final Set<String> FUTURES = Set.of("allOf", "anyOf", "failedFuture", "completedFuture");

    public SimulatingLoader() {
        super(SimulatingLoader.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        boolean isSimulated = name.startsWith(ENGINE) && (!name.startsWith(RUNTIME) || name.startsWith(WORLD));
        if (!isSimulated) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            var loaded = findLoadedClass(name);
            return loaded == null ? simulated(name) : loaded;
        }
    }

    private Class<?> simulated(String name) throws ClassNotFoundException {
        try (var bytes = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (bytes == null) {
                throw new ClassNotFoundException(name);
            }
            var writer = new ClassWriter(0);
            new ClassReader(bytes).accept(new Redirection(writer), 0);
            var redirected = writer.toByteArray();
            return defineClass(name, redirected, 0, redirected.length);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static final class Redirection extends ClassVisitor {
        private String className = "";

        Redirection(ClassVisitor next) {
            super(API, next);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String parent, String[] interfaces) {
            className = name;
            super.visit(version, access, name, signature, parent, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            if ((access & Opcodes.ACC_SYNCHRONIZED) == 0) {
                return new Calls(super.visitMethod(access, name, descriptor, signature, exceptions));
            }
            int plain = access & ~Opcodes.ACC_SYNCHRONIZED;
            var inner = name + "$unsynchronized";
            synchronize(super.visitMethod(plain, name, descriptor, signature, exceptions), inner, descriptor);
            int hidden = plain & ~(Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED) | Opcodes.ACC_PRIVATE;
            return new Calls(super.visitMethod(hidden, inner, descriptor, null, exceptions));
        }

        /** Calls the method between entering and leaving a simulated monitor. */
        private void synchronize(MethodVisitor code, String inner, String descriptor) {
            var begin = new Label();
            var end = new Label();
            var failed = new Label();
            var type = Type.getMethodType(descriptor);
            code.visitCode();
            code.visitTryCatchBlock(begin, end, failed, null);
            monitor(code, "enter");
            code.visitLabel(begin);
            code.visitVarInsn(Opcodes.ALOAD, 0);
            int local = 1;
            for (var argument : type.getArgumentTypes()) {
                code.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), local);
                local += argument.getSize();
            }
            code.visitMethodInsn(Opcodes.INVOKESPECIAL, className, inner, descriptor, false);
            code.visitLabel(end);
            monitor(code, "exit");
            code.visitInsn(type.getReturnType().getOpcode(Opcodes.IRETURN));
            code.visitLabel(failed);
            code.visitFrame(Opcodes.F_SAME1, 0, null, 1, new Object[] {"java/lang/Throwable"});
            monitor(code, "exit");
            code.visitInsn(Opcodes.ATHROW);
            code.visitMaxs(local + 3, local);
            code.visitEnd();
        }

        private static void monitor(MethodVisitor code, String call) {
            code.visitVarInsn(Opcodes.ALOAD, 0);
            code.visitMethodInsn(Opcodes.INVOKESTATIC, REDIRECTED, call, "(Ljava/lang/Object;)V", false);
        }
    }

    private static final class Calls extends MethodVisitor {
        Calls(MethodVisitor next) {
            super(API, next);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            super.visitTypeInsn(opcode, opcode == Opcodes.NEW ? CONSTRUCTED.getOrDefault(type, type) : type);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.MONITORENTER || opcode == Opcodes.MONITOREXIT) {
                var call = opcode == Opcodes.MONITORENTER ? "enter" : "exit";
                super.visitMethodInsn(Opcodes.INVOKESTATIC, REDIRECTED, call, "(Ljava/lang/Object;)V", false);
            } else {
                super.visitInsn(opcode);
            }
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            boolean isStatic = opcode == Opcodes.INVOKESTATIC;
            if (name.equals("<init>")) {
                var constructed = CONSTRUCTED.getOrDefault(owner, owner);
                super.visitMethodInsn(opcode, constructed, name, descriptor, isInterface);
            } else if (CALLED.contains(owner + "." + name)) {
                var plain = isStatic ? descriptor : "(L" + owner + ";" + descriptor.substring(1);
                super.visitMethodInsn(Opcodes.INVOKESTATIC, REDIRECTED, name, plain, false);
            } else if (isStatic && owner.equals("java/util/concurrent/CompletableFuture") && FUTURES.contains(name)) {
                super.visitMethodInsn(opcode, HERE + "SimulatedFuture", name, descriptor, false);
            } else if (owner.equals("java/util/concurrent/ThreadLocalRandom")) {
                random(opcode, name, descriptor);
            } else {
                super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            }
        }

        private void random(int opcode, String name, String descriptor) {
            if (name.equals("current")) {
                super.visitMethodInsn(opcode, HERE + "SimulatedRandom", name, "()Ljava/util/Random;", false);
            } else {
                super.visitMethodInsn(opcode, "java/util/Random", name, descriptor, false);
            }
        }
    }
}
