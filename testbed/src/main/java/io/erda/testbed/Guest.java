package io.erda.testbed;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A running guest: QEMU, without hardware acceleration. Its second serial port takes commands and
 * returns lines; the first is its console, kept in a file. Owns the process.
 */
final class Guest implements AutoCloseable {
  private static final int BOOT_SECONDS = 90;
  private static final int BOOTS = 3;

  /**
   * The images of a guest.
   *
   * @param image the directory made by {@code testbed/guest build}
   * @param app the disk that it mounts at /app
   */
  record Parts(Path image, Path app) {}

  private final Process process;
  private final BufferedWriter in;
  private final Consumer<String> listener;
  private final List<String> lines = new ArrayList<>();

  private Guest(Process process, Consumer<String> listener) {
    this.process = process;
    this.listener = listener;
    this.in = process.outputWriter(StandardCharsets.UTF_8);
    Thread reader = new Thread(this::read, "guest-lines");
    reader.setDaemon(true);
    reader.start();
  }

  /**
   * Boots a guest, and tries again if it does not reach its shell: emulation sometimes fails before
   * the tests begin.
   *
   * @param listener receives each whole line, in a thread of the guest
   */
  static Guest boot(Parts parts, Disk disk, Path console, Consumer<String> listener)
      throws IOException {
    for (int tries = 1; ; tries++) {
      Guest guest = new Guest(start(parts, disk, console), listener);
      if (guest.await("@ booted"::equals, BOOT_SECONDS)) {
        return guest;
      }
      guest.close();
      if (tries == BOOTS) {
        throw new IOException("the guest did not boot in " + BOOTS + " tries: " + trouble(console));
      }
    }
  }

  /** The emulator's error output, or the place of the guest's console when there is none. */
  private static String trouble(Path console) throws IOException {
    String said = Files.readString(errors(console)).strip();
    return said.isEmpty() ? "see " + console : said.lines().collect(Collectors.joining("; "));
  }

  private static Path errors(Path console) {
    return console.resolveSibling(console.getFileName() + ".qemu");
  }

  private static Process start(Parts parts, Disk disk, Path console) throws IOException {
    boolean dax = disk.kind() == Disk.Kind.DAX;
    List<String> command =
        new ArrayList<>(List.of("qemu-system-x86_64", "-accel", "tcg,thread=multi"));
    command.addAll(List.of("-cpu", "max", "-smp", "2"));
    command.addAll(List.of("-M", dax ? "q35,nvdimm=on,nvdimm-persistence=cpu" : "q35", "-m"));
    command.add(dax ? "1536M,slots=2,maxmem=4G" : "1536M");
    command.addAll(List.of("-nodefaults", "-display", "none", "-no-reboot", "-kernel"));
    command.add(parts.image().resolve("vmlinuz").toString());
    command.addAll(List.of("-initrd", parts.image().resolve("initrd").toString(), "-append"));
    command.add("console=ttyS0 panic=-1 quiet tsc=reliable mitigations=off random.trust_cpu=on");
    for (Path each :
        List.of(parts.image().resolve("root.img"), parts.image().resolve("jdk.img"), parts.app())) {
      command.addAll(List.of("-drive", "file=" + each + ",if=virtio,format=raw,readonly=on"));
    }
    command.addAll(disk.qemuFlags());
    command.addAll(List.of("-serial", "file:" + console));
    command.addAll(List.of("-chardev", "stdio,id=host,signal=off", "-serial", "chardev:host"));
    return HostShell.builder(command).redirectError(errors(console).toFile()).start();
  }

  private void read() {
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      StringBuilder line = new StringBuilder();
      // Not readLine, because an unterminated last line was cut and must be dropped.
      for (int c = out.read(); c >= 0; c = out.read()) {
        if (c == '\n') {
          took(line.toString().stripTrailing());
          line.setLength(0);
        } else {
          line.append((char) c);
        }
      }
    } catch (IOException e) {
      // The guest is gone.
    } finally {
      synchronized (lines) {
        lines.notifyAll();
      }
    }
  }

  private void took(String line) {
    listener.accept(line);
    synchronized (lines) {
      lines.add(line);
      lines.notifyAll();
    }
  }

  /** Runs a line of shell in the guest, after the earlier lines. */
  void send(String line) {
    try {
      in.write(line);
      in.write('\n');
      in.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("the guest is gone", e);
    }
  }

  void send(List<String> shellLines) {
    shellLines.forEach(this::send);
  }

  /** Number of lines so far: a mark for {@link #said}. */
  int mark() {
    synchronized (lines) {
      return lines.size();
    }
  }

  /** The first matching line since the mark, or null. */
  String said(int mark, Predicate<String> what) {
    synchronized (lines) {
      for (int i = mark; i < lines.size(); i++) {
        if (what.test(lines.get(i))) {
          return lines.get(i);
        }
      }
      return null;
    }
  }

  /** Waits for a line; false when the guest ended or too much time has passed. */
  boolean await(Predicate<String> what, int seconds) {
    return await(0, what, seconds) != null;
  }

  /** Waits for a line since the mark. Returns the line, or null when none came. */
  String await(int mark, Predicate<String> what, int seconds) {
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (true) {
      String found = said(mark, what);
      long leftMs = (endNs - System.nanoTime()) / 1_000_000;
      if (found != null || leftMs <= 0 || !process.isAlive()) {
        return found;
      }
      synchronized (lines) {
        try {
          lines.wait(Math.min(leftMs, 50));
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Stops every thread of the emulator, and returns when all are stopped. */
  void freeze() throws IOException {
    signal("STOP");
    Path tasks = Path.of("/proc/" + process.pid() + "/task");
    for (int looks = 0; looks < 2000; looks++) {
      if (stand(tasks)) {
        return;
      }
      sleep(2);
    }
    throw new IOException("the emulator does not stop");
  }

  private static boolean stand(Path tasks) throws IOException {
    try (DirectoryStream<Path> each = Files.newDirectoryStream(tasks)) {
      for (Path task : each) {
        String stat = Files.readString(task.resolve("stat"));
        if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
          return false;
        }
      }
      return true;
    } catch (NoSuchFileException e) {
      return false; // The thread has ended in the meantime.
    }
  }

  void thaw() throws IOException {
    signal("CONT");
  }

  /** Cuts the power. */
  void cut() {
    close();
  }

  private void signal(String name) throws IOException {
    try {
      Process kill = new ProcessBuilder("kill", "-" + name, "" + process.pid()).start();
      if (kill.waitFor() != 0) {
        throw new IOException("the emulator is gone");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static void sleep(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    try {
      process.destroyForcibly().waitFor();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
