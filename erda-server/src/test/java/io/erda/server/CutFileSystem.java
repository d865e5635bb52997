package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * An ext4 file system whose device is a file, so that its power can be cut: a copy of that file has
 * the bytes that had reached the device, and none that were only in the page cache. Mounting the
 * copy replays the journal, as after a reboot.
 *
 * <p>Needs root and loop devices; {@link #mount} skips the test elsewhere. Bytes that are not
 * synchronised reach the device after some five seconds, so a test that takes longer may lose fewer
 * bytes than a real power failure, but never more.
 */
final class CutFileSystem implements AutoCloseable {
  private static final long BYTES = 48L << 20;

  private final Path scratch;
  private final Deque<Path> mounted = new ArrayDeque<>();
  private Path image;
  private int cuts;

  private CutFileSystem(Path scratch) {
    this.scratch = scratch;
  }

  /** Makes the file system and mounts it; skips the test where that is not allowed. */
  static CutFileSystem mount(Path scratch) throws IOException {
    assumeTrue(
        Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0), "mounting needs root");
    CutFileSystem files = new CutFileSystem(scratch);
    files.image = scratch.resolve("image");
    try (RandomAccessFile file = new RandomAccessFile(files.image.toFile(), "rw")) {
      file.setLength(BYTES);
    }
    assumeTrue(run("mkfs.ext4", "-q", "-F", files.image.toString()) == 0, "mkfs.ext4 is missing");
    assumeTrue(files.mountImage(), "no loop device can be mounted here");
    return files;
  }

  /** Where it is mounted now. */
  Path root() {
    return mounted.getFirst();
  }

  /** The power fails, and the machine boots again: {@link #root()} is another one afterwards. */
  void cut() throws IOException {
    Path copy = scratch.resolve("image-" + ++cuts);
    Files.copy(image, copy);
    image = copy;
    assertEquals(true, mountImage(), "what the power failure left can't be mounted");
  }

  private boolean mountImage() throws IOException {
    Path at = Files.createDirectory(scratch.resolve("mounted-" + cuts));
    boolean done = run("mount", "-o", "loop", image.toString(), at.toString()) == 0;
    if (done) {
      mounted.push(at);
    }
    return done;
  }

  /** Unmounts the mounts of every life. Their files must be closed before. */
  @Override
  public void close() throws IOException {
    while (!mounted.isEmpty()) {
      Path at = mounted.pop();
      assertEquals(0, run("umount", at.toString()), "can't unmount " + at);
    }
  }

  /** Runs a command to its end. Returns its exit code; that of a shell where there is none. */
  static int run(String... command) throws IOException {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), UTF_8);
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException(String.join(" ", command) + " does not end: " + said);
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    } catch (IOException e) {
      return 127;
    }
  }
}
