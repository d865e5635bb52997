package io.erda.server;

import io.erda.client.ErdaClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A server in a process of its own, for tests of what must not end it: its end, a crash of its JVM
 * included, is the child's. Ends with {@link #close()}.
 */
final class ServedElsewhere implements AutoCloseable {
  static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(64 << 20)
          .withBuckets(8192);

  private final Path data;
  private final Path output;
  private final Process child;

  private ServedElsewhere(Path data, Path output, Process child) {
    this.data = data;
    this.output = output;
    this.child = child;
  }

  /** Serves {@code data}, below a directory of the test's; JVM flags are added. */
  static ServedElsewhere start(Path data, String... flags) throws IOException {
    return start(List.of(), data, flags);
  }

  /** The same in a process that may have so many files open. */
  static ServedElsewhere startLimited(Path data, int filesMax) throws IOException {
    return start(List.of("sh", "-c", "ulimit -n " + filesMax + "; exec \"$@\"", "sh"), data);
  }

  private static ServedElsewhere start(List<String> before, Path data, String... flags)
      throws IOException {
    Path output = data.resolveSibling(data.getFileName() + ".out");
    List<String> command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:-UsePerfData",
            "-XX:+UseSerialGC",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=" + data.resolveSibling("hs_err.log"),
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED"));
    command.addAll(List.of(flags));
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            ServedElsewhere.class.getName(),
            data.toString()));
    Process child =
        new ProcessBuilder(command)
            // Where not even root can make a file.
            .directory(Path.of("/proc").toFile())
            .redirectErrorStream(true)
            .redirectOutput(Redirect.to(output.toFile()))
            .start();
    ServedElsewhere served = new ServedElsewhere(data, output, child);
    while (!served.output().contains("serving\n")) {
      if (!child.isAlive()) {
        throw new IOException("server did not start: " + served.output());
      }
      Thread.onSpinWait();
    }
    return served;
  }

  /** The child. */
  public static void main(String[] arguments) throws Exception {
    try (ErdaServer server = ErdaServer.start(Path.of(arguments[0]), OPTIONS)) {
      server.onReadOnly(reason -> System.out.println("read-only: " + reason));
      System.out.println("serving");
      Thread watch =
          new Thread(() -> {
            try {
              Throwable failure = server.await();
              if (failure != null) {
                failure.printStackTrace(System.out);
                System.out.println("server failed: " + failure);
              }
            } catch (InterruptedException e) {
              System.out.println(e);
            }
          });
      watch.setDaemon(true);
      watch.start();
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (in.readLine() != null) {
        Thread.getAllStackTraces().keySet().forEach(each -> System.out.println(each.getName()));
        System.out.println("those are all threads");
      }
    }
  }

  ErdaClient connect() {
    return ErdaClient.connect("erda+shm:" + data.toAbsolutePath());
  }

  Path data() {
    return data;
  }

  long pid() {
    return child.pid();
  }

  boolean isServing() {
    return child.isAlive() && !output().contains("server failed");
  }

  /** The names of its threads, a line each. */
  String threads() throws IOException {
    int before = output().length();
    child.getOutputStream().write('\n');
    child.getOutputStream().flush();
    while (!output().endsWith("those are all threads\n")) {
      Thread.onSpinWait();
    }
    return output().substring(before);
  }

  /** Its threads stop, the last of them a moment later; {@link #kill} and {@link #close} end it. */
  void standStill() throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-STOP", Long.toString(pid())).start().waitFor();
  }

  void kill() throws InterruptedException {
    child.destroyForcibly().waitFor();
  }

  /** What the child has printed. */
  String output() {
    try {
      return Files.readString(output, StandardCharsets.UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Override
  public void close() throws IOException {
    try {
      child.getOutputStream().close();
      if (!child.waitFor(20, TimeUnit.SECONDS)) {
        child.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      child.destroyForcibly();
    }
  }
}
