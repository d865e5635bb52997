package io.erda.launcher;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ServerChild;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Makes the stores and the backup that {@link KeptStoresTest} keeps, by processes of {@code ./erda
 * server}, and packs them into one file. Keys and values are bytes, and are written here as the
 * characters of ISO-8859-1.
 */
final class StoresToKeep {
  /** The directory of the backup. It was made of {@link Made#STOPPED} while that was served. */
  static final String BACKUP = "backup";

  static final String GREETING = "greeting";
  static final String UPDATED = "updated";
  static final String LONG_VALUE = "value of 3,000 bytes";

  /** Keys that no kept store has: the first was deleted before the log was cleaned, one after. */
  static final List<String> DELETED = List.of("deleted early", "deleted late");

  /**
   * The contents of every kept store. They can't be changed, because the kept files contain them.
   */
  static final Map<String, String> VALUES = values();

  private static final String RETURNED = "deleted and put again";
  private static final int ANY = 40;

  /** The smallest regions and segments, and a table that is soon doubled. */
  private static final List<String> GEOMETRY =
      List.of("--region-bytes", "64K", "--segment-bytes", "4K", "--heads", "1", "--buckets", "16");

  /** That each store is created with. */
  private static final String CAPACITY = "1M";

  private static final long WAIT_NS = 60_000_000_000L;

  /**
   * How a store is made: its put mode, whether its server is killed or stopped in order, and
   * whether another one opened it with another capacity than the first.
   */
  enum Made {
    STOPPED("publish", false, CAPACITY),
    KILLED("publish", true, CAPACITY),
    ANNOUNCED("announce", false, CAPACITY),
    ANNOUNCED_KILLED("announce", true, CAPACITY),
    RAISED("publish", false, "2M"),
    LOWERED("publish", true, "512K");

    final String putMode;
    final boolean killed;

    /** That the last server had. */
    final String capacity;

    Made(String putMode, boolean killed, String capacity) {
      this.putMode = putMode;
      this.killed = killed;
      this.capacity = capacity;
    }

    /** The store's directory. */
    String directory() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  private final Path directory;

  /**
   * @param directory an empty directory, in which each store is made in a separate directory
   */
  StoresToKeep(Path directory) {
    this.directory = directory;
  }

  private static Map<String, String> values() {
    Map<String, String> values = new TreeMap<>();
    values.put(GREETING, "hello");
    values.put(UPDATED, "version 5");
    values.put(RETURNED, "here again");
    values.put(LONG_VALUE, pattern(3_000));
    values.put("value of 0 bytes", "");
    values.put("\0\u00ff\n\r\"\u0080 \u0001", "\u00fe\0\0\u0080");
    values.put("k".repeat(300), "its key has 300 bytes");
    for (int i = 0; i < ANY; i++) {
      values.put("one of many, " + i, "value " + i);
    }
    return Collections.unmodifiableMap(values);
  }

  static String pattern(int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append((char) (i * 7 & 0xff));
    }
    return text.toString();
  }

  static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  static String text(byte[] bytes) {
    return bytes == null ? null : new String(bytes, ISO_8859_1);
  }

  void make() throws IOException, InterruptedException {
    try (Children children = new Children()) {
      for (Made each : Made.values()) {
        make(children, each);
      }
    }
  }

  private void make(Children children, Made made) throws IOException, InterruptedException {
    Path data = directory.resolve(made.directory());
    ServerChild server = start(children, made, CAPACITY);
    if (!made.capacity.equals(CAPACITY)) {
      server.stop();
      server = start(children, made, made.capacity);
    }
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      fill(client);
      if (made == Made.STOPPED) {
        Path backup = directory.resolve(BACKUP);
        erda(0, "backup", "--share", "100", "--uri", server.uri(), backup.toString());
      }
      if (made.killed) {
        server.kill();
      }
    }
    if (!made.killed) {
      server.stop();
    }
  }

  private ServerChild start(Children children, Made made, String capacity)
      throws IOException, InterruptedException {
    List<String> options = new ArrayList<>(GEOMETRY);
    options.addAll(List.of("--put", made.putMode, "--capacity", capacity));
    Path data = directory.resolve(made.directory());
    return ServerChild.start(children, Jvm.current(), data, options);
  }

  /** Puts {@link #VALUES} in such a way that the table is doubled and the log is cleaned. */
  private static void fill(ErdaClient client) throws InterruptedException {
    for (int version = 0; version < 3; version++) {
      for (String key : VALUES.keySet()) {
        client.put(bytes(key), bytes("version " + version));
      }
    }
    for (String key : List.of(DELETED.getFirst(), DELETED.getLast(), RETURNED)) {
      client.put(bytes(key), bytes("to be deleted"));
    }
    client.delete(bytes(DELETED.getFirst()));
    client.delete(bytes(RETURNED));
    VALUES.forEach((key, value) -> {
      if (!key.equals(UPDATED) && !key.equals(RETURNED)) {
        client.put(bytes(key), bytes(value));
      }
    });
    client.put(bytes(UPDATED), bytes("version 3"));
    await("the table is doubled", () -> client.stats().get("table.doubling") == 0);
    client.clean(-1);
    await("the log is cleaned", () -> client.stats().get("cleaner.asked") == 0);
    Map<String, Long> figures = client.stats();
    assertTrue(figures.get("table.doublings") > 0, figures::toString);
    assertTrue(figures.get("cleaner.bytes.copied") > 0, figures::toString);
    client.put(bytes(UPDATED), bytes("version 4"));
    client.put(bytes(UPDATED), bytes(VALUES.get(UPDATED)));
    client.put(bytes(RETURNED), bytes(VALUES.get(RETURNED)));
    client.delete(bytes(DELETED.getLast()));
  }

  private static void await(String what, BooleanSupplier isSo) throws InterruptedException {
    long untilNs = System.nanoTime() + WAIT_NS;
    while (!isSo.getAsBoolean()) {
      assertTrue(System.nanoTime() - untilNs < 0, () -> "not so after a minute: " + what);
      Thread.sleep(1);
    }
  }

  /**
   * Packs the stores into one file, without the directories {@code shm/}, which belong to
   * processes. The names, times and permissions in the file do not depend on the machine.
   */
  void pack(Path into) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(into))) {
      zip.setLevel(Deflater.BEST_COMPRESSION);
      pack(directory.resolve(BACKUP), zip);
      for (Made each : Made.values()) {
        pack(directory.resolve(each.directory()), zip);
      }
    }
  }

  private void pack(Path store, ZipOutputStream zip) throws IOException {
    for (Path file : regularFiles(store)) {
      byte[] bytes = Files.readAllBytes(file);
      assertFalse(text(bytes).contains(directory.toString()), () -> file + " names its place");
      ZipEntry entry = new ZipEntry(store.getFileName() + "/" + file.getFileName());
      entry.setTimeLocal(LocalDateTime.of(1980, 1, 1, 0, 0));
      zip.putNextEntry(entry);
      zip.write(bytes);
    }
  }

  static List<Path> regularFiles(Path of) throws IOException {
    try (Stream<Path> files = Files.list(of)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    }
  }

  /** Runs a command in this process; returns what it printed. */
  static String erda(int exitCode, String... words) {
    StringWriter said = new StringWriter();
    PrintWriter out = new PrintWriter(said);
    assertEquals(
        exitCode, Main.run(out, out, false, words), () -> String.join(" ", words) + ": " + said);
    return said.toString();
  }

  /** The last commit that changed what stores are made by; there is nothing that none has. */
  static String commit() throws IOException, InterruptedException {
    String code = ":(top)*/src/main/*";
    String changed = git("status", "--porcelain", "--", code);
    assertEquals("", changed, "commit that first: a file that is kept has the name of a commit");
    return git("log", "-1", "--abbrev=12", "--format=%h", "--", code);
  }

  private static String git(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("git"));
    command.addAll(List.of(words));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
    assertEquals(0, process.waitFor(), said);
    return said;
  }
}
