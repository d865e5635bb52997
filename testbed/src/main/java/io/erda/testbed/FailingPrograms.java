package io.erda.testbed;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.erda.client.ErdaClient;
import io.erda.server.ErdaServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Runs one program with a call that fails, and checks the consequences. Owns a directory with a
 * store, of which each run gets a copy.
 */
final class FailingPrograms implements AutoCloseable {
  /** The programs that run with a failing call. */
  enum Program {
    /** A server that serves, while a client puts, deletes and cleans. */
    SERVING,
    /** A server from its start to its stop. */
    SERVER,
    /**
     * The same, where an earlier server has noted that the device did not take bytes, so that all
     * files are written once more.
     */
    AGAIN,
    CLEAN,
    IMPORT,
    EXPORT,
    BACKUP,
    RESTORE,
    CHECK,
    VERIFY
  }

  /**
   * One run.
   *
   * @param call that fails; null: none does, and the calls are counted
   * @param kind of URI for the program, or its client: shm, tcp, or read-only
   */
  record Configuration(Program program, FailingCall call, int kind, boolean power, long seed) {
    Configuration with(FailingCall other) {
      return new Configuration(program, other, kind, power, seed);
    }

    @Override
    public String toString() {
      return "%s, %s (%s%s)"
          .formatted(program, call, KINDS.get(kind), power ? ", promise power" : "");
    }
  }

  private static final List<String> KINDS = List.of("shm", "tcp", "read-only");
  private static final List<String> GEOMETRY =
      List.of(
          "--heads",
          "1",
          "--region-bytes",
          "64K",
          "--segment-bytes",
          "8K",
          "--capacity",
          "1M",
          "--buckets",
          "64");

  /** The longest time of a step, on a busy machine. */
  private static final int SECONDS_MAX = 60;

  private static final int SECONDS_TO_END = 5;

  private static final int OPERATIONS = 600;

  private final Path work;
  private final String java;
  private final List<String> flags;
  private final String classpath;
  private final Path template;
  private final String exported;
  private final Map<String, CallCounts> counted = new HashMap<>();
  private int port;

  FailingPrograms(Path work, String java, List<String> flags, String classpath) throws IOException {
    this.work = work;
    this.java = java;
    this.flags = flags;
    this.classpath = classpath;
    this.template = work.resolve("template");
    Files.createDirectories(template);
    ConfigurationResult made = new ConfigurationResult();
    try (Traced server = server(template, List.of(), false)) {
      require(server.awaitSaid("serving", SECONDS_MAX), "no server starts: " + server.err());
      new FailingPuts(made).fill(shm(template));
      try (Traced backup =
          tool(
              "backup",
              template,
              List.of(),
              List.of("backup", "--uri", shm(template), template.resolve("backup").toString()))) {
        backup.awaitEnd(SECONDS_MAX);
        require(backup.exitCode() == 0, "backup: " + backup.err());
      }
      try (Traced export =
          tool("export", template, List.of(), List.of("export", "--uri", shm(template)))) {
        export.awaitEnd(SECONDS_MAX);
        exported = sorted(export.out());
      }
      Files.writeString(template.resolve("lines"), exported);
      server.terminate();
      require(server.awaitEnd(SECONDS_MAX), "the server does not end");
    }
  }

  private static void require(boolean met, String what) {
    if (!met) {
      throw new IllegalStateException(what);
    }
  }

  /**
   * Draws a configuration. If no earlier run has counted the program's calls, counts them first.
   *
   * @param wanted the program; null: it is drawn, too
   * @param given the call that fails; null: it is drawn, too
   */
  Configuration draw(long seed, int number, Program wanted, FailingCall given) throws IOException {
    SplittableRandom random = new SplittableRandom(seed * 1_000_003 + number);
    int of = random.nextInt(100);
    Program drawnProgram =
        of < 30
            ? Program.SERVING
            : of < 50
                ? Program.SERVER
                : of < 60 ? Program.AGAIN : Program.values()[3 + random.nextInt(7)];
    Program program = wanted == null ? drawnProgram : wanted;
    int kinds =
        switch (program) {
          case EXPORT, BACKUP -> 3;
          case CHECK, VERIFY -> 1;
          default -> 2;
        };
    boolean isServer = program.ordinal() <= Program.AGAIN.ordinal();
    Configuration drawn =
        new Configuration(
            program,
            null,
            random.nextInt(kinds),
            isServer && random.nextInt(3) == 0,
            random.nextLong());
    FailingCall call =
        given != null
            ? given
            : FailingCall.draw(
                random,
                counts(drawn),
                isServer && program != Program.SERVING,
                program == Program.SERVING && drawn.kind == 1);
    return drawn.with(call);
  }

  /** The calls of a configuration's program when none fails. */
  private CallCounts counts(Configuration configuration) throws IOException {
    String key = configuration.program + " " + configuration.kind + " " + configuration.power;
    CallCounts counts = counted.get(key);
    if (counts == null) {
      ConfigurationResult outcome = run(configuration.with(null));
      require(
          outcome.complaints().isEmpty(),
          key + ", without a failing call: " + outcome.complaints());
      counts = CallCounts.of(outcome.trace(), world());
      counted.put(key, counts);
    }
    return counts;
  }

  private List<String> tracing(Configuration configuration) throws IOException {
    return configuration.call == null
        ? CallCounts.arguments()
        : configuration.call.arguments(counts(configuration).paths());
  }

  private Path world() {
    return work.resolve("world");
  }

  ConfigurationResult run(Configuration configuration) throws IOException {
    ConfigurationResult outcome = new ConfigurationResult();
    List<String> tracing = tracing(configuration);
    Path world = world();
    FailingCalls.remove(world);
    copy(template, world);
    switch (configuration.program) {
      case SERVING -> serving(configuration, tracing, world, outcome);
      case SERVER -> fromStartToStop(configuration, tracing, world, outcome);
      case AGAIN -> {
        noteUnwritten(world);
        fromStartToStop(configuration, tracing, world, outcome);
      }
      case VERIFY -> verify(tracing, world, outcome);
      case CHECK -> check(tracing, world, outcome);
      case CLEAN, IMPORT, EXPORT, BACKUP, RESTORE -> client(configuration, tracing, world, outcome);
    }
    FailingCalls.remove(world);
    return outcome;
  }

  // Servers.

  private void serving(
      Configuration configuration, List<String> tracing, Path world, ConfigurationResult outcome)
      throws IOException {
    FailingPuts puts = new FailingPuts(outcome);
    puts.knowFilled();
    SplittableRandom random = new SplittableRandom(configuration.seed);
    try (Traced server = server(world, List.of(), configuration.power)) {
      require(server.awaitSaid("serving", SECONDS_MAX), "no server starts: " + server.err());
      String uri = configuration.kind == 1 ? tcp() : shm(world);
      try (Traced strace = Traced.attach("calls", world, tracing, server.program().pid())) {
        long begunNs = System.nanoTime();
        puts.work(uri, random, OPERATIONS, 6);
        if (System.nanoTime() - begunNs > SECONDS_MAX * 1_000_000_000L) {
          outcome.complain("the client's work did not end in time");
        }
        strace.terminate();
        strace.awaitEnd(SECONDS_MAX);
        outcome.traced(strace.trace());
      }
      if (server.isAlive() && !server.err().contains("ended because")) {
        String unread = new ServedGets(outcome).readThrough(uri);
        // A server that ends because of a failed call has reported the reason, or is about to.
        if (unread != null && !server.awaitErr("ended because", SECONDS_TO_END)) {
          outcome.complain("a server that lives is not read any more: " + unread);
        }
      }
      end(server, random.nextBoolean(), true, outcome);
    }
    SoundStore.require(world.resolve("data"), puts, outcome);
  }

  private void fromStartToStop(
      Configuration configuration, List<String> tracing, Path world, ConfigurationResult outcome)
      throws IOException {
    FailingPuts puts = new FailingPuts(outcome);
    puts.knowFilled();
    SplittableRandom random = new SplittableRandom(configuration.seed);
    try (Traced server = server(world, tracing, configuration.power)) {
      boolean serves = server.awaitSaid("serving", SECONDS_MAX);
      if (serves) {
        puts.work(configuration.kind == 1 ? tcp() : shm(world), random, OPERATIONS / 3, 3);
      } else if (server.isAlive() && !server.trace().contains(", \"serving")) {
        outcome.complain("it neither serves nor ends: " + server.threads());
      }
      outcome.traced(server.trace());
      end(server, false, serves, outcome);
      outcome.traced(server.trace());
    }
    SoundStore.require(world.resolve("data"), puts, outcome);
  }

  /** Leaves the word in the superblock's file that erda-server/FORMAT.md describes. */
  private static void noteUnwritten(Path world) throws IOException {
    try (var superblock =
        Files.newByteChannel(world.resolve("data/superblock"), StandardOpenOption.WRITE)) {
      superblock.position(2048).write(ByteBuffer.wrap("ERDALOST".getBytes(US_ASCII)));
    }
  }

  /** Ends a server, and complains if it had ended by itself without a reason. */
  private static void end(Traced server, boolean kill, boolean served, ConfigurationResult outcome)
      throws IOException {
    boolean lived = server.isAlive();
    if (lived && kill) {
      server.kill();
    } else if (lived) {
      server.terminate();
      if (!server.awaitEnd(SECONDS_MAX)) {
        outcome.complain("the server does not end on SIGTERM: " + server.threads());
        server.kill();
      }
    }
    String said = server.err();
    outcome.said("server", said);
    boolean why = said.contains("erda: ") || said.contains("ended because");
    if (!lived
        && !why
        && !outcome.isKilled()
        && outcome.isHeard()
        && !ConfigurationResult.isOfTheJvm(said + server.out())) {
      outcome.complain(
          "the server ended with %d and did not say why%s"
              .formatted(server.exitCode(), served ? "" : ", before it served"));
    }
    if (!lived && server.exitCode() == 0) {
      outcome.complain("the server ended by itself with exit code 0");
    }
  }

  // Commands.

  private void client(
      Configuration configuration, List<String> tracing, Path world, ConfigurationResult outcome)
      throws IOException {
    String name = configuration.program.name().toLowerCase(Locale.ROOT);
    try (ErdaServer server = SoundStore.serve(world.resolve("data"))) {
      String uri =
          switch (configuration.kind) {
            case 0 -> shm(world);
            case 1 -> server.uris().get(1);
            default -> shm(world) + "?read-only";
          };
      List<String> words = new ArrayList<>(List.of(name, "--uri", uri));
      Path target = world.resolve("target");
      switch (configuration.program) {
        case IMPORT -> words.add(world.resolve("lines").toString());
        case BACKUP -> words.addAll(List.of("--share", "100", target.toString()));
        case RESTORE -> words.addAll(List.of("--over", world.resolve("backup").toString()));
        default -> {}
      }
      if (configuration.program == Program.BACKUP) {
        Files.createDirectory(target);
      }
      boolean done;
      try (Traced tool = tool("tool", world, tracing, words)) {
        done = requireEnd(tool, outcome);
        if (done
            && configuration.program == Program.EXPORT
            && !sorted(tool.out()).equals(exported)) {
          outcome.complain("exit code 0, and not all keys");
        }
      }
      if (configuration.program == Program.BACKUP) {
        if (outcome.seen().contains("remove it by hand")) {
          Files.deleteIfExists(target.resolve("erda.backup"));
        }
        requireBackup(world, target, done, outcome);
      }
      FailingPuts puts = new FailingPuts(outcome);
      puts.knowFilled();
      puts.check(() -> ErdaClient.connect(shm(world)));
    }
  }

  private void requireBackup(Path world, Path target, boolean done, ConfigurationResult outcome)
      throws IOException {
    if (!done) {
      try (Traced next =
          tool(
              "next",
              world,
              List.of(),
              List.of("backup", "--share", "100", "--uri", shm(world), target.toString()))) {
        next.awaitEnd(SECONDS_MAX);
        if (next.exitCode() != 0) {
          outcome.complain("the next backup is refused: " + next.err());
        }
      }
    }
    try (Traced check =
        tool("check", world, List.of(), List.of("restore", "--check", target.toString()))) {
      check.awaitEnd(SECONDS_MAX);
      if (check.exitCode() != 0) {
        outcome.complain("the backup is not sound: " + check.err());
      }
    }
    try (Stream<Path> left = Files.list(target)) {
      long unfinished = left.filter(file -> file.toString().endsWith(".unfinished")).count();
      if (!done && unfinished > 0) {
        outcome.complain(unfinished + " unfinished files are left");
      }
    }
  }

  private void verify(List<String> tracing, Path world, ConfigurationResult outcome)
      throws IOException {
    try (Traced tool = tool("tool", world, tracing, List.of("verify", "--data", data(world)))) {
      boolean done = requireEnd(tool, outcome);
      String out = tool.out();
      if (out.contains("damaged: ")
          || out.contains("doubtful: ")
          || tool.err().contains("missing")) {
        outcome.complain("a sound store is called damaged: " + out + tool.err());
      }
      if (done && !out.contains("The store was stopped cleanly")) {
        outcome.complain("exit code 0, and not stopped cleanly");
      }
    }
  }

  private void check(List<String> tracing, Path world, ConfigurationResult outcome)
      throws IOException {
    Path backup = world.resolve("backup");
    try (Traced tool =
        tool("tool", world, tracing, List.of("restore", "--check", backup.toString()))) {
      requireEnd(tool, outcome);
      if (tool.err().contains("damaged") || tool.err().contains("no backup")) {
        outcome.complain("a sound backup is called damaged or missing");
      }
    }
  }

  /** Returns whether the program reports success. */
  private static boolean requireEnd(Traced tool, ConfigurationResult outcome) throws IOException {
    if (!tool.awaitEnd(SECONDS_MAX)) {
      outcome.complain("it does not end: " + tool.threads());
      tool.kill();
      return false;
    }
    outcome.traced(tool.trace());
    String err = tool.err();
    outcome.said("command", err);
    int code = tool.exitCode();
    if (code != 0
        && !err.contains("erda: ")
        && outcome.isHeard()
        && !ConfigurationResult.isOfTheJvm(err + tool.out())) {
      outcome.complain("exit code " + code + " without a word");
    }
    if (err.lines().filter(line -> line.startsWith("erda: ")).count() > 1 && code != 0) {
      outcome.complain("more than one line");
    }
    return code == 0;
  }

  // Processes.

  private Traced server(Path world, List<String> tracing, boolean power) throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    List<String> words =
        new ArrayList<>(List.of("server", "--data", data(world), "--listen", "127.0.0.1:" + port));
    words.addAll(GEOMETRY);
    if (power) {
      words.addAll(List.of("--promise", "power"));
    }
    return tool("server", world, tracing, words);
  }

  private Traced tool(String name, Path world, List<String> tracing, List<String> words)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(java));
    command.addAll(flags);
    command.addAll(List.of("-cp", classpath, "io.erda.launcher.Main"));
    command.addAll(words);
    return Traced.start(name, world, tracing, command);
  }

  private static String data(Path world) {
    return world.resolve("data").toString();
  }

  private static String shm(Path world) {
    return "erda+shm:" + data(world);
  }

  private String tcp() {
    return "erda://127.0.0.1:" + port;
  }

  private static String sorted(String lines) {
    return String.join("\n", lines.lines().sorted().toList()) + "\n";
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        if (Files.isDirectory(file) || Files.isRegularFile(file)) {
          Files.copy(
              file,
              to.resolve(from.relativize(file).toString()),
              StandardCopyOption.COPY_ATTRIBUTES);
        }
      }
    }
  }

  @Override
  public void close() throws IOException {
    FailingCalls.remove(template);
    FailingCalls.remove(work.resolve("world"));
  }
}
