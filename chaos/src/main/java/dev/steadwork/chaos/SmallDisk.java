package dev.steadwork.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A disk in memory that can be filled up. Only root can have one. */
final class SmallDisk implements AutoCloseable {
    private final Path folder;

    private SmallDisk(Path folder) {
        this.folder = folder;
    }

    static Optional<SmallDisk> mount(Path folder, int megabytes) {
        try {
            Files.createDirectories(folder);
            boolean mounted =
                    succeeds("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "tmpfs", folder.toString());
            if (!mounted) {
                return Optional.empty();
            }
            var disk = new SmallDisk(folder);
            Runtime.getRuntime().addShutdownHook(new Thread(disk::close));
            return Optional.of(disk);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static boolean succeeds(String... command) throws IOException {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    Path folder() {
        return folder;
    }

    /** Writes until nothing more fits. */
    void fill() {
        var block = new byte[64 * 1024];
        try (var ballast = Files.newOutputStream(ballast())) {
            while (true) {
                ballast.write(block);
            }
        } catch (IOException full) {
            // as meant
        }
    }

    void free() {
        try {
            Files.deleteIfExists(ballast());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path ballast() {
        return folder.resolve("ballast");
    }

    @Override
    public void close() {
        try {
            succeeds("umount", "-l", folder.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
