package dev.steadwork.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A network between an engine and its database that a test can cut, stall, slow down and heal, and that can lose what is said. */
public final class TcpProxy implements AutoCloseable {
    private final String databaseUrl;
    private final int databasePort;
    private final ServerSocket server;
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private State state = State.HEALED;
    private @Nullable String fatalRequest;
    private @Nullable String lostAnswer;
    private int answersToLose;
    private Duration delay = Duration.ZERO;

    private enum State {
        HEALED,
        STALLED,
        SWALLOWING,
        DEAF,
        CUT
    }

    public TcpProxy(String databaseUrl) {
        this.databaseUrl = databaseUrl;
        this.databasePort = URI.create(databaseUrl.substring("jdbc:".length())).getPort();
        try {
            this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start(this::accept);
    }

    /** The database's URL, through this network. */
    public String url() {
        return databaseUrl.replace(":" + databasePort + "/", ":" + server.getLocalPort() + "/");
    }

    /** Breaks all connections and lets none come about. */
    public synchronized void cut() {
        change(State.CUT);
        connections.forEach(Connection::close);
    }

    /** Cuts when the database has done what the next request with this text asks for, and before it can tell. */
    public synchronized void cutAfter(String request) {
        fatalRequest = request;
    }

    /** Nothing gets through any more, and nobody is told. What is under way arrives when the network is healed. */
    public synchronized void stall() {
        change(State.STALLED);
    }

    /** Everything is lost, and nobody is told; who spoke meanwhile learns it when the network is healed. */
    public synchronized void swallow() {
        change(State.SWALLOWING);
    }

    /** What the database tells those who listen is lost; they learn it when the network is healed. */
    public synchronized void deafen() {
        change(State.DEAF);
    }

    /** Everything takes this much longer. */
    public synchronized void delay(Duration longer) {
        delay = longer;
    }

    /** The next answers with this text are lost with their connections: the database has done what was asked for. */
    public synchronized void loseAnswers(String text, int count) {
        lostAnswer = text;
        answersToLose = count;
    }

    public synchronized void heal() {
        change(State.HEALED);
        delay = Duration.ZERO;
        answersToLose = 0;
        connections.stream().filter(connection -> connection.lostSomething).forEach(Connection::close);
    }

    private void change(State changed) {
        state = changed;
        notifyAll();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                connect(server.accept());
            } catch (IOException refused) {
                // the engine sees it too
            }
        }
    }

    private void connect(Socket engine) throws IOException {
        var connection = new Connection(engine, database(engine));
        synchronized (this) {
            if (state == State.CUT) {
                connection.close();
                return;
            }
            connections.add(connection);
        }
        start(connection::requests);
        start(connection::answers);
    }

    private Socket database(Socket engine) throws IOException {
        try {
            return new Socket(InetAddress.getLoopbackAddress(), databasePort);
        } catch (IOException down) {
            engine.close();
            throw down;
        }
    }

    private void awaitPassage() throws InterruptedException {
        Duration longer;
        synchronized (this) {
            while (state == State.STALLED) {
                wait();
            }
            longer = delay;
        }
        if (!longer.isZero()) {
            Thread.sleep(longer.toMillis());
        }
    }

    private synchronized boolean isLost(boolean isAnswer, boolean listens) {
        return state == State.SWALLOWING || (state == State.DEAF && isAnswer && listens);
    }

    private synchronized boolean isToBeLost(byte[] answer, int length) {
        boolean lost =
                answersToLose > 0 && lostAnswer != null && text(answer, length).contains(lostAnswer);
        if (lost) {
            answersToLose--;
        }
        return lost;
    }

    private static String text(byte[] bytes, int length) {
        return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
    }

    private synchronized boolean isFatal(byte[] request, int length) {
        boolean fatal = fatalRequest != null && text(request, length).contains(fatalRequest);
        if (fatal) {
            fatalRequest = null;
        }
        return fatal;
    }

    private static void start(Runnable task) {
        var thread = new Thread(task, "test-network");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        cut();
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private final class Connection {
        private final Socket engine;
        private final Socket database;
        private volatile boolean cutAtAnswer;
        private volatile boolean listens;
        private volatile boolean lostSomething;

        Connection(Socket engine, Socket database) {
            this.engine = engine;
            this.database = database;
        }

        void requests() {
            pump(engine, database, false, (bytes, length) -> {
                cutAtAnswer |= isFatal(bytes, length);
                listens |= !listens && text(bytes, length).contains("LISTEN ");
            });
        }

        void answers() {
            pump(database, engine, true, (bytes, length) -> {
                if (cutAtAnswer) {
                    cut();
                }
                if (isToBeLost(bytes, length)) {
                    close();
                }
            });
        }

        private void pump(Socket from, Socket to, boolean areAnswers, Watcher watcher) {
            var buffer = new byte[8192];
            try {
                int read = from.getInputStream().read(buffer);
                while (read >= 0) {
                    watcher.see(buffer, read);
                    awaitPassage();
                    if (isLost(areAnswers, listens)) {
                        lostSomething = true;
                    } else if (!lostSomething) {
                        to.getOutputStream().write(buffer, 0, read);
                    }
                    read = from.getInputStream().read(buffer);
                }
            } catch (IOException | InterruptedException broken) {
                // both ends see it
            } finally {
                close();
            }
        }

        void close() {
            connections.remove(this);
            try (engine;
                    database) {
                // nothing to do but to close them
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @FunctionalInterface
    private interface Watcher {
        void see(byte[] bytes, int length);
    }
}
