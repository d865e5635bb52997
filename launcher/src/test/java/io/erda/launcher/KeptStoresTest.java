package io.erda.launcher;

import static io.erda.launcher.StoresToKeep.BACKUP;
import static io.erda.launcher.StoresToKeep.DELETED;
import static io.erda.launcher.StoresToKeep.GREETING;
import static io.erda.launcher.StoresToKeep.LONG_VALUE;
import static io.erda.launcher.StoresToKeep.UPDATED;
import static io.erda.launcher.StoresToKeep.VALUES;
import static io.erda.launcher.StoresToKeep.bytes;
import static io.erda.launcher.StoresToKeep.erda;
import static io.erda.launcher.StoresToKeep.pattern;
import static io.erda.launcher.StoresToKeep.regularFiles;
import static io.erda.launcher.StoresToKeep.text;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import io.erda.launcher.StoresToKeep.Made;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Protocol;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * This version reads what earlier ones stored. {@code src/test/resources/kept-stores} has files
 * {@code layout-N-COMMIT.zip}: in each are four stores or more of layout version N, and a backup of
 * one of them, which the code of that commit made ({@link StoresToKeep}). A table in {@code
 * docs/operations.md} says of each layout whether this version opens its stores and restores their
 * backups, and these tests hold the code to it.
 *
 * <p>A file that is kept is never replaced, because no code of today makes what older code made.
 * One more is needed when {@link Protocol#LAYOUT_VERSION} changes, or the version of a single file
 * of a store or of a backup, when a field that older code left 0 gets a meaning, or when {@link
 * Made} gets a way that none is kept of. The following command makes it in {@code DIR}, an absolute
 * path, and names it after the last commit that changed the code; it is then added to the others.
 *
 * <pre>
 * mvn verify -pl launcher -am -Dtest=KeptStoresTest -Dsurefire.failIfNoSpecifiedTests=false -Derda.write.stores=DIR
 * </pre>
 */
class KeptStoresTest {
  private static final Path KEPT = Path.of("src", "test", "resources", "kept-stores");
  private static final Pattern NAME = Pattern.compile("layout-(\\d+)-([0-9a-f]{12})\\.zip");
  private static final Path PAGE = Path.of("..", "docs", "operations.md");

  /** A row of the table: the layout, the rule for a store, the rule for a backup. */
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| (\\d+) \\| (opens|refuses) \\| (restores|refuses) \\|$");

  private static final String KEEP =
      " keep one of today (the Javadoc of this test says how it is made)";
  private static final String SEE = "see docs/operations.md (Another version)";
  private static final String STOPPED = "stopped";

  /** The files that have a version behind eight bytes of magic; a number may follow the name. */
  private static final Pattern VERSIONED =
      Pattern.compile("(superblock|stopped|table|regions|region|erda\\.backup)(-[0-9-]+)?");

  private static final int VERSION_OFFSET = 8;

  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 16)
          .withSegmentBytes(4096)
          .withCapacityBytes(1 << 20)
          .withHeads(1)
          .withBuckets(16);

  /** A file of {@link #KEPT}. */
  private record Kept(Path file, int layout, String commit) {
    static Kept of(Path file) {
      Matcher matcher = NAME.matcher(file.getFileName().toString());
      assertTrue(matcher.matches(), () -> file + " is not called layout-N-COMMIT.zip");
      return new Kept(file, Integer.parseInt(matcher.group(1)), matcher.group(2));
    }

    /** How its stores were made: there were four ways in the beginning. */
    Set<Made> made() throws IOException {
      Set<Made> made = EnumSet.noneOf(Made.class);
      try (ZipFile zip = new ZipFile(file.toFile())) {
        for (Made each : Made.values()) {
          if (zip.getEntry(each.directory() + "/superblock") != null) {
            made.add(each);
          }
        }
      }
      assertTrue(made.containsAll(EnumSet.range(Made.STOPPED, Made.ANNOUNCED_KILLED)), file + "");
      return made;
    }

    /** Tries an action with a kept store. A failure states the meaning for users. */
    void tried(String what, String failure, Executable trial) {
      try {
        trial.execute();
      } catch (Throwable e) {
        fail("%s %s, %s: %s. %s".formatted(what, this, failure, SEE, e.getMessage()), e);
      }
    }

    @Override
    public String toString() {
      return "of layout version %d, made by commit %s".formatted(layout, commit);
    }
  }

  /** The rule of this version for stores of a layout, and for their backups. */
  private record Rule(boolean opens, boolean restores) {}

  @TempDir Path directory;

  static List<Kept> kept() throws IOException {
    try (Stream<Path> files = Files.list(KEPT)) {
      return files.sorted().map(Kept::of).toList();
    }
  }

  static List<Arguments> keptStores() throws IOException {
    List<Arguments> stores = new ArrayList<>();
    for (Kept kept : kept()) {
      for (Made made : kept.made()) {
        stores.add(Arguments.of(made, kept));
      }
    }
    return stores;
  }

  private static Map<Integer, Rule> rules() throws IOException {
    Map<Integer, Rule> rules = new TreeMap<>();
    Matcher rows = ROW.matcher(Files.readString(PAGE, UTF_8));
    while (rows.find()) {
      Rule rule = new Rule(rows.group(2).equals("opens"), rows.group(3).equals("restores"));
      rules.put(Integer.valueOf(rows.group(1)), rule);
    }
    return rules;
  }

  private static Rule rule(Kept kept) throws IOException {
    Rule rule = rules().get(kept.layout);
    assertNotNull(rule, () -> kept.file + " is kept, and the table has no such layout: " + SEE);
    return rule;
  }

  @Test
  void thePageSaysWhatBecomesOfEachLayout() throws IOException {
    Map<Integer, Rule> rules = rules();
    assertEquals(
        new Rule(true, true),
        rules.get(Protocol.LAYOUT_VERSION),
        () ->
            ("this program makes stores of layout version %d, and the table has no row '| %d |"
                    + " opens | restores |': %s. Whoever changes the layout decides what becomes of"
                    + " the stores that users have. Say in that table, for each older layout,"
                    + " whether this version opens such a store and restores a backup of it; say in"
                    + " CHANGELOG.md what users have to do; and keep stores of the new layout"
                    + " (the Javadoc of this test says how they are made)")
                .formatted(Protocol.LAYOUT_VERSION, Protocol.LAYOUT_VERSION, SEE));
    Set<Integer> layouts = new TreeSet<>();
    kept().forEach(each -> layouts.add(each.layout));
    assertEquals(
        rules.keySet(),
        layouts,
        "the layouts in the table, and those of which stores are kept, differ: " + SEE);
  }

  @ParameterizedTest(name = "{0}, {1}")
  @MethodSource("keptStores")
  void aStoreIsWhatThePageSays(Made made, Kept kept) throws IOException {
    unpack(kept.file);
    Path data = directory.resolve(made.directory());
    assertEquals(kept.layout, version(data.resolve("superblock")), kept.file + " has another name");
    assertEquals(!made.killed, Files.exists(data.resolve(STOPPED)), "a record of its stop");
    String store = "the store '" + made.directory() + "'";
    if (rule(kept).opens) {
      kept.tried(store, "can't be read any more", () -> use(data, made));
    } else {
      kept.tried(store, "is not refused", () -> assertRefused(data, kept.layout));
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("kept")
  void aBackupIsWhatThePageSays(Kept kept) throws IOException {
    unpack(kept.file);
    if (rule(kept).restores) {
      kept.tried("the backup of a store", "can't be restored any more", this::restore);
    } else {
      kept.tried(
          "the backup of a store",
          "is not refused",
          () -> {
            String said = erda(1, "restore", "--check", directory.resolve(BACKUP).toString());
            assertTrue(said.contains("and this program reads version"), said);
          });
    }
  }

  /**
   * A file to keep can be made whenever one is needed: that is tried here. The files of its stores
   * have the versions that those of some kept one have.
   */
  @Test
  void whatIsMadeTodayIsKept() throws Exception {
    StoresToKeep stores = new StoresToKeep(directory);
    stores.make();
    Path made = directory.resolve("made.zip");
    stores.pack(made);
    String toKeepIn = System.getProperty("erda.write.stores");
    if (toKeepIn != null) {
      String name = "layout-%d-%s.zip".formatted(Protocol.LAYOUT_VERSION, StoresToKeep.commit());
      Files.copy(made, Path.of(toKeepIn).resolve(name));
    }
    restore();
    for (Made each : Made.values()) {
      use(directory.resolve(each.directory()), each);
    }
    Map<String, Integer> versions = versions(made);
    List<Map<String, Integer>> ofKept = new ArrayList<>();
    for (Kept each : kept()) {
      ofKept.add(versions(each.file));
    }
    Set<Made> ways = EnumSet.noneOf(Made.class);
    for (Kept each : kept()) {
      ways.addAll(each.layout == Protocol.LAYOUT_VERSION ? each.made() : Set.of());
    }
    assertEquals(EnumSet.allOf(Made.class), ways, "stores of this layout that are kept:" + KEEP);
    assertTrue(
        ofKept.contains(versions),
        () ->
            "the files of a store made today have the versions %s, and those of the kept ones %s:"
                    .formatted(versions, ofKept)
                + KEEP);
  }

  private void use(Path data, Made made) {
    verify(data, !made.killed);
    Map<String, String> contents = new TreeMap<>(VALUES);
    try (ErdaServer server = ErdaServer.start(data, ServerOptions.DEFAULTS);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      assertHolds(contents, client);
      put(client, contents, "put today", "new");
      put(client, contents, UPDATED, "version 6");
      put(client, contents, LONG_VALUE, pattern(3_500));
      put(client, contents, DELETED.getFirst(), "not any more");
      assertTrue(client.delete(bytes(GREETING)));
      contents.remove(GREETING);
      assertFalse(client.delete(bytes(DELETED.getLast())));
      assertHolds(contents, client);
    }
    verify(data, true);
    try (ErdaServer server = ErdaServer.start(data, ServerOptions.DEFAULTS);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      assertHolds(contents, client);
    }
  }

  private static void put(
      ErdaClient client, Map<String, String> contents, String key, String value) {
    client.put(bytes(key), bytes(value));
    contents.put(key, value);
  }

  private void restore() {
    Path data = directory.resolve("restored");
    try (ErdaServer server = ErdaServer.start(data, SMALL);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      erda(0, "restore", "--uri", server.uri(), directory.resolve(BACKUP).toString());
      assertHolds(VALUES, client);
    }
    verify(data, true);
  }

  /** The words of {@code verify} and of a server say both versions, and no file changes. */
  private static void assertRefused(Path data, int layout) throws IOException {
    String says =
        "store has layout version %d, this program reads layout version %d"
            .formatted(layout, Protocol.LAYOUT_VERSION);
    Map<String, String> before = files(data);
    String verified = erda(1, "verify", "--data", data.toString());
    assertTrue(verified.contains(says), verified);
    String opened =
        assertThrows(
                ErdaException.Unusable.class, () -> ErdaServer.start(data, ServerOptions.DEFAULTS))
            .getMessage();
    assertTrue(opened.contains(says), opened);
    assertEquals(before, files(data));
  }

  private static Map<String, String> files(Path data) throws IOException {
    Map<String, String> files = new TreeMap<>();
    for (Path file : regularFiles(data)) {
      files.put(file.getFileName().toString(), Files.readString(file, ISO_8859_1));
    }
    return files;
  }

  /** Gets every key, misses those that were deleted, and iterates. */
  private static void assertHolds(Map<String, String> contents, ErdaClient client) {
    Set<String> keys = new TreeSet<>(DELETED);
    keys.addAll(VALUES.keySet());
    keys.addAll(contents.keySet());
    Map<String, String> got = new TreeMap<>();
    for (String key : keys) {
      byte[] value = client.get(bytes(key));
      if (value != null) {
        got.put(key, text(value));
      }
    }
    assertSame(contents, got, "gets");
    Map<String, String> iterated = new TreeMap<>();
    try (KeyCursor cursor = client.keys()) {
      while (cursor.next()) {
        String key = text(cursor.key());
        assertNull(iterated.put(key, text(cursor.value())), () -> "iterated over twice: " + key);
      }
    }
    assertSame(contents, iterated, "an iteration");
  }

  private static void assertSame(
      Map<String, String> contents, Map<String, String> found, String by) {
    Set<String> keys = new TreeSet<>(contents.keySet());
    keys.addAll(found.keySet());
    keys.removeIf(key -> Objects.equals(contents.get(key), found.get(key)));
    assertEquals(Set.of(), keys, "keys that " + by + " found otherwise than they were put");
  }

  /**
   * Requires that {@code ./erda verify} finds no damage, and that the table is proven if it can be.
   */
  private static void verify(Path data, boolean proven) {
    String said = erda(0, "verify", "--data", data.toString());
    assertTrue(said.contains(" 0 damaged; 0 findings"), said);
    assertEquals(proven, said.contains("its table is what it was then"), said);
  }

  private void unpack(Path from) throws IOException {
    try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(from))) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Path file = directory.resolve(entry.getName());
        Files.createDirectories(file.getParent());
        try (OutputStream out = Files.newOutputStream(file)) {
          zip.transferTo(out);
        }
      }
    }
  }

  private static int version(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return version(in);
    }
  }

  private static int version(InputStream in) throws IOException {
    byte[] header = in.readNBytes(VERSION_OFFSET + Integer.BYTES);
    return ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(VERSION_OFFSET);
  }

  /**
   * Returns the versions in the files of a kept store, by the name of the file without its number.
   */
  private static Map<String, Integer> versions(Path zipFile) throws IOException {
    Map<String, Integer> versions = new TreeMap<>();
    try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(zipFile))) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        String file = entry.getName().substring(entry.getName().indexOf('/') + 1);
        Matcher matcher = VERSIONED.matcher(file);
        if (matcher.matches()) {
          versions.put(matcher.group(1), version(zip));
        }
      }
    }
    return versions;
  }
}
