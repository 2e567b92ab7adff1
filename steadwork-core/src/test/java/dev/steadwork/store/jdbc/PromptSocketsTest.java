package dev.steadwork.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The socket of the connection that listens: it does not wait where the driver waits for a millisecond. */
class PromptSocketsTest {
    private final Socket socket = new PromptSockets().createSocket();
    private ServerSocket server;
    private Socket peer;

    @BeforeEach
    void connect() throws IOException {
        server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        socket.connect(server.getLocalSocketAddress());
        peer = server.accept();
    }

    @AfterEach
    void close() throws IOException {
        socket.close();
        peer.close();
        server.close();
    }

    @Test
    void with_a_timeout_of_a_millisecond_it_says_at_once_that_there_is_nothing() throws IOException {
        socket.setSoTimeout(1);

        assertThatThrownBy(() -> socket.getInputStream().read())
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessage("Nothing to read now.");
        assertThatThrownBy(() -> socket.getInputStream().read(new byte[8]))
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessage("Nothing to read now.");
    }

    @Test
    void with_any_other_timeout_it_reads_as_usual() throws IOException {
        socket.setSoTimeout(10_000);
        peer.getOutputStream().write('A');

        assertThat(socket.getInputStream().read()).isEqualTo('A');
    }

    @Test
    void what_is_there_is_read_whatever_the_timeout() throws IOException {
        peer.getOutputStream().write(new byte[] {'A', 'B'});
        assertThat(socket.getInputStream().read()).isEqualTo('A');
        socket.setSoTimeout(1);

        assertThat(socket.getInputStream().read()).isEqualTo('B');
    }
}
