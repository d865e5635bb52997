package io.erda.server;

import io.erda.client.ErdaClient;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.Deflater;

/**
 * A server in a separate process, for tests of events that must not end it. Its end, including a
 * crash of its JVM, ends only the child. Ends with {@link #close()}.
 */
final class ServedElsewhere implements AutoCloseable {
  static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(64 << 20)
          .withBuckets(8192);

  /** A flag of the JVM with which it listens over TCP, too. */
  static final String LISTENS = "-Dlistens=true";

  private final Path data;
  private final Path output;
  private final Process child;

  /** Whether it was stopped, and so can't end by itself. */
  private boolean standsStill;

  private ServedElsewhere(Path data, Path output, Process child) {
    this.data = data;
    this.output = output;
    this.child = child;
  }

  /** Serves {@code data}, below a directory of the test's; JVM flags are added. */
  static ServedElsewhere start(Path data, String... flags) throws IOException {
    return start(List.of(), System.getProperty("java.class.path"), data, flags);
  }

  /**
   * Does the same in a process that may have so many files open. It runs from jars, as a user's
   * does: from a directory every class that is loaded late is a file to be opened, which ends a
   * server that can open none.
   */
  static ServedElsewhere startLimited(Path data, int filesMax) throws IOException {
    List<String> before = List.of("sh", "-c", "ulimit -n " + filesMax + "; exec \"$@\"", "sh");
    return start(before, inJars(data.resolveSibling("jars")), data);
  }

  /** This JVM's class path, with a jar in the place of each directory. */
  private static String inJars(Path jars) throws IOException {
    Files.createDirectory(jars);
    List<String> packed = new ArrayList<>();
    for (String each : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path classes = Path.of(each);
      if (!Files.isDirectory(classes)) {
        packed.add(each);
        continue;
      }
      Path jar = jars.resolve(packed.size() + ".jar");
      pack(classes, jar);
      packed.add(jar.toString());
    }
    return String.join(File.pathSeparator, packed);
  }

  private static void pack(Path classes, Path jar) throws IOException {
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
        Stream<Path> files = Files.walk(classes)) {
      out.setLevel(Deflater.NO_COMPRESSION);
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String name = classes.relativize(file).toString().replace(File.separatorChar, '/');
        out.putNextEntry(new JarEntry(name));
        Files.copy(file, out);
      }
    }
  }

  private static ServedElsewhere start(
      List<String> before, String classPath, Path data, String... flags) throws IOException {
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
    command.addAll(List.of("-cp", classPath, ServedElsewhere.class.getName(), data.toString()));
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

  /** The log of the child, on its output. */
  private static final class Printed implements System.Logger {
    @Override
    public String getName() {
      return "erda";
    }

    @Override
    public boolean isLoggable(Level level) {
      return level.compareTo(Level.INFO) > 0;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String text, Throwable thrown) {
      System.out.println(text);
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String text, Object... parameters) {
      if (isLoggable(level)) {
        System.out.println("log: " + text);
      }
    }
  }

  /** The child. */
  public static void main(String[] arguments) throws Exception {
    ServerOptions options =
        OPTIONS
            .withLog(new Printed())
            .withListening(
                Boolean.getBoolean("listens") ? List.of(Listening.tcp("127.0.0.1:0")) : List.of());
    try (ErdaServer server = ErdaServer.start(Path.of(arguments[0]), options)) {
      System.out.println("at " + server.uris().getLast());
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

  /** The last URI at which it is reached: over TCP, where it was started with {@link #LISTENS}. */
  String uri() {
    return output().lines().filter(line -> line.startsWith("at ")).findFirst().get().substring(3);
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

  /** Returns when all its threads have stopped; {@link #kill} and {@link #close} end it. */
  void standStill() throws IOException, InterruptedException {
    standsStill = true;
    new ProcessBuilder("kill", "-STOP", Long.toString(pid())).start().waitFor();
    while (!hasStopped()) {
      Thread.onSpinWait();
    }
  }

  /** The state of a thread follows its name, which is in brackets and may have any bytes. */
  private boolean hasStopped() throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid()), "task"))) {
      for (Path thread : threads.toList()) {
        String stat = Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
        if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
          return false;
        }
      }
    }
    return true;
  }

  void kill() throws InterruptedException {
    child.destroyForcibly().waitFor();
  }

  /** Returns when the output has these words. The log is written behind what it tells of. */
  void awaitOutput(String words) {
    long untilNs = System.nanoTime() + 20_000_000_000L;
    while (!output().contains(words)) {
      if (System.nanoTime() - untilNs > 0) {
        throw new AssertionError("not told: " + words + "\n" + output());
      }
      Thread.onSpinWait();
    }
  }

  /** The output of the child up to now. */
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
      if (standsStill || !child.waitFor(20, TimeUnit.SECONDS)) {
        child.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      child.destroyForcibly();
    }
  }
}
