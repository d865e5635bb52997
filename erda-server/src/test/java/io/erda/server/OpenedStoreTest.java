package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Directories that are not what they should be: one clear error each, and nothing is changed by it.
 */
class OpenedStoreTest {
  private static final long SEED = Long.getLong("erda.seed", 20261120L);
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(1 << 16)
          .withSegmentBytes(4096)
          .withCapacityBytes(1 << 20)
          .withBuckets(64);

  @TempDir Path data;

  private void create() {
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      for (int i = 0; i < 20; i++) {
        erda.put(key(i), new byte[40 + i]);
      }
    }
  }

  private static byte[] key(int i) {
    return ("a-key-that-is-named-" + i).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Two servers of one store, one of which served a copy made of hard links, lost half of the puts
   * that each had acknowledged, because each had the lock of a different directory.
   */
  @Test
  void aCopyOfHardLinksIsRefusedAndSoIsItsOriginal(@TempDir Path other) throws IOException {
    create();
    Path copy = Files.createDirectory(other.resolve("copy"));
    try (Stream<Path> files = Files.list(data)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.createLink(copy.resolve(file.getFileName()), file);
      }
    }
    for (Path each : List.of(copy, data)) {
      ErdaException e =
          assertThrows(ErdaException.Unusable.class, () -> ErdaStore.open(each, SMALL));
      assertTrue(e.getMessage().contains("has a hard link outside of the directory"), e::toString);
      assertTrue(e.getMessage().contains("find -samefile " + each), e::toString);
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
    try (Stream<Path> files = Files.list(copy)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    // A second name that a crash left of a file with its proper name is no foreign link.
    Files.createLink(data.resolve("spare-9"), data.resolve("region-0-1"));
    ErdaStore.open(data, SMALL).close();
  }

  /**
   * Files of the superuser in a store prevent its owner from opening it. The error names the owner
   * of the files.
   */
  @Test
  void aFileOfAnotherUserIsToldWithItsOwner() throws IOException {
    boolean superuser = Files.getAttribute(data, "unix:uid").equals(0);
    Path file = superuser ? Files.createFile(data.resolve("theirs")) : Path.of("/etc/passwd");
    if (superuser) {
      Files.setAttribute(file, "unix:uid", 65_534);
    }
    String owner = Files.getOwner(file).getName();
    String reason = OpenedStore.reason(new AccessDeniedException(file.toString()));
    assertTrue(reason.contains(file + " belongs to the user " + owner), reason);
    assertTrue(reason.contains("chown -R ") && reason.endsWith(" " + file.getParent()), reason);
    Path own = Files.createFile(data.resolve("own"));
    assertEquals(
        "permission denied: " + own, OpenedStore.reason(new AccessDeniedException(own.toString())));
  }

  /** Found by a review: the command named the directory around the store, with all in it. */
  @Test
  void aStoreOfAnotherUserIsGivenAloneByTheCommand() throws IOException {
    boolean superuser = Files.getAttribute(data, "unix:uid").equals(0);
    assumeTrue(superuser, "the superuser alone can give a directory away");
    Files.setAttribute(data, "unix:uid", 65_534);
    String reason = OpenedStore.reason(new AccessDeniedException(data.toString()));
    assertTrue(reason.contains("chown -R ") && reason.endsWith(" " + data), reason);
  }

  /** A store that is there, and one that would be made. */
  @Test
  void aFileSystemThatIsReadOnlyIsCalledSo() throws Exception {
    ErdaStore.open(data.resolve("store"), SMALL).close();
    Path mounted = Files.createDirectory(data.resolve("mounted"));
    Assumptions.assumeTrue(
        run("mount", "--bind", data.toString(), mounted.toString()), "nothing can be mounted here");
    try {
      assertTrue(run("mount", "-o", "remount,bind,ro", data.toString(), mounted.toString()));
      for (String name : List.of("store", "new")) {
        Path directory = mounted.resolve(name);
        String said =
            refusal(ErdaException.Unusable.class, () -> ErdaStore.open(directory, SMALL).close());
        assertTrue(
            said.startsWith(
                "can't open %s: %s is on a file system that is read-only"
                    .formatted(directory, directory)),
            said);
        assertTrue(said.contains("Read-only file system"), said);
      }
    } finally {
      run("umount", mounted.toString());
    }
  }

  private static boolean run(String... command) throws Exception {
    return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
  }

  private static String refusal(Class<? extends ErdaException> type, Runnable opening) {
    String message = assertThrows(type, opening::run).getMessage();
    assertFalse(message.contains("\n"), message);
    return message;
  }

  private String unusable() {
    return refusal(ErdaException.Unusable.class, () -> ErdaStore.open(data, SMALL));
  }

  @Test
  void inUse() {
    try (ErdaStore store = ErdaStore.open(data, SMALL)) {
      assertNotNull(store.promise());
      String said = "store is in use by another process, or is open in this one already: " + data;
      assertEquals(said, unusable());
      assertEquals(said, refusal(ErdaException.Unusable.class, () -> StoreVerifier.verify(data)));
    }
  }

  /** A user who may read a directory could lock it, and keep the server from starting for ever. */
  @Test
  void aStoreIsItsOwnersUnlessOthersAreLetIn() throws IOException {
    Path made = data.resolve("made");
    ErdaServer.start(made, SMALL).close();
    assertEquals(0700, mode(made));
    assertEquals(0700, mode(made.resolve("shm")));
    ErdaServer.start(made, SMALL.withMode(0770)).close();
    assertEquals(02750, mode(made));
    assertEquals(03770, mode(made.resolve("shm")));
    assertEquals(0660, mode(made.resolve("root")));
    assertEquals(0660, mode(made.resolve("shm").resolve("registry")));
    ErdaStore.open(made, SMALL).close();
    assertEquals(02750, mode(made));
    assertEquals(03770, mode(made.resolve("shm")));
    Files.setAttribute(made, "unix:mode", 0755);
    ErdaStore.open(made, SMALL).close();
    assertEquals(0700, mode(made));
    assertEquals(0700, mode(made.resolve("shm")));
    ErdaServer.start(made, SMALL.withMode(0777)).close();
    ErdaServer.start(made, SMALL.withMode(0700)).close();
    assertEquals(0700, mode(made));
    assertThrows(IllegalArgumentException.class, () -> SMALL.withMode(0750 | 1));
    assertTrue(
        refusal(
                ErdaException.BadArgument.class,
                () -> ErdaServer.start(made, SMALL.withGroup("no-such-group")))
            .contains("no group no-such-group"));
  }

  /** A user who may read the files may neither list nor lock the directory, nor enter shm. */
  @Test
  void othersMayBeLetInToReadAlone() throws IOException {
    Path made = data.resolve("made");
    ErdaServer.start(made, SMALL.withMode(0770)).close();
    ErdaServer.start(made, SMALL.withMode(0750)).close();
    for (String file : List.of("superblock", "root", "regions", "table-1", "stopped")) {
      assertEquals(0640, mode(made.resolve(file)), file);
    }
    assertEquals(03710, mode(made));
    assertEquals(0700, mode(made.resolve("shm")));
    ErdaStore.open(made, SMALL).close();
    assertEquals(03710, mode(made));
    ErdaServer.start(made, SMALL.withMode(0755)).close();
    assertEquals(0644, mode(made.resolve("root")));
    assertEquals(03711, mode(made));
    ErdaServer.start(made, SMALL.withMode(0777)).close();
    assertEquals(0666, mode(made.resolve("root")));
    assertEquals(02755, mode(made));
    assertEquals(03777, mode(made.resolve("shm")));
    ErdaServer.start(made, SMALL.withMode(0755)).close();
    ErdaServer.start(made, SMALL.withMode(0700)).close();
    assertEquals(0700, mode(made));
  }

  private static int mode(Path file) throws IOException {
    return (Integer) Files.getAttribute(file, "unix:mode") & 07777;
  }

  /**
   * All of it was lost in a power failure soon after it was written, or was removed to make room.
   */
  @Test
  void whatLiesInShmKeepsNoStoreFromOpening() throws IOException {
    ErdaServer.start(data, SMALL).close();
    Path shm = data.resolve("shm");
    Files.write(shm.resolve("registry"), new byte[2_113_792]);
    ErdaServer.start(data, SMALL).close();
    ErdaStore.open(data, SMALL).close();
    Files.delete(shm.resolve("registry"));
    Files.createDirectories(shm.resolve("registry").resolve("inside"));
    ErdaStore.open(data, SMALL).close();
    ErdaServer.start(data, SMALL).close();
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  @Test
  void aTableThatIsTooShortIsNamed() throws IOException {
    ErdaServer.start(data, SMALL).close();
    Files.delete(data.resolve("stopped"));
    Files.write(data.resolve("table-1"), new byte[1]);
    String said = refusal(ErdaException.Damaged.class, () -> ErdaServer.start(data, SMALL));
    assertTrue(said.contains("table-1"), said);
  }

  @Test
  void foreign() throws IOException {
    Files.writeString(data.resolve("Thesis.doc"), "not a store");
    assertTrue(unusable().contains("neither a store nor empty: it holds Thesis.doc"));
    assertEquals(List.of("Thesis.doc"), names());
  }

  @Test
  void notADirectory() throws IOException {
    Path file = Files.writeString(data.resolve("file"), "x");
    assertTrue(
        refusal(ErdaException.Unusable.class, () -> ErdaStore.open(file, SMALL))
            .contains("not a directory"));
  }

  @Test
  void missing() {
    Path nowhere = data.resolve("nowhere");
    assertTrue(
        refusal(ErdaException.Unusable.class, () -> StoreVerifier.verify(nowhere))
            .contains("no such directory"));
    assertFalse(Files.exists(nowhere));
    assertTrue(
        refusal(ErdaException.Unusable.class, () -> StoreVerifier.verify(data))
            .contains("no store"));
    assertEquals(List.of(), names());
  }

  /** "No such directory" would send its reader looking in the wrong place. */
  @Test
  void aDirectoryThatMayNotBeLookedAt() throws IOException {
    Path closed = Files.createDirectory(data.resolve("closed"));
    Files.setPosixFilePermissions(closed, Set.of());
    try {
      Assumptions.assumeFalse(Files.isExecutable(closed), "root may look everywhere");
      assertTrue(
          refusal(ErdaException.Unusable.class, () -> StoreVerifier.verify(closed.resolve("store")))
              .contains("permission denied"));
    } finally {
      Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
    }
  }

  @Test
  void anotherVersion() throws IOException {
    create();
    write("superblock", 8, 7);
    write("superblock", 4096 + 8, 7);
    assertTrue(unusable().contains("layout version 7, this program reads layout version 3"));
  }

  /** The version in one copy is damaged; the store is opened by the other copy. */
  @Test
  void aDamagedVersion() throws IOException {
    create();
    write("superblock", 4096 + 8, 7);
    ErdaStore.open(data, SMALL).close();
  }

  @Test
  void damagedSuperblock() throws IOException {
    create();
    write("superblock", 70, 0x55);
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      assertEquals(41, erda.get(key(1)).length, "the other copy is whole");
    }
    write("superblock", 4096 + 70, 0x55);
    String message = refusal(ErdaException.Damaged.class, () -> ErdaStore.open(data, SMALL));
    assertTrue(message.contains("superblock is damaged"), message);
  }

  @Test
  void aFileIsMissing() throws IOException {
    create();
    Files.delete(data.resolve("root"));
    assertTrue(
        refusal(ErdaException.Damaged.class, () -> ErdaStore.open(data, SMALL)).contains("root"));
  }

  @Test
  void anInterruptedCreationIsMadeAnew() throws IOException {
    ErdaStore.open(data, SMALL).close();
    Files.delete(data.resolve("stopped"));
    Files.delete(data.resolve("superblock"));
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      assertNull(erda.get(key(1)));
      erda.put(key(1), new byte[1]);
      assertEquals(1, erda.get(key(1)).length);
    }
  }

  /**
   * It would be easy to take for an interrupted creation, and to begin anew over everything it
   * holds.
   */
  @Test
  void aStoreThatLostItsSuperblockIsNotOverwritten() throws IOException {
    create();
    byte[] superblock = Files.readAllBytes(data.resolve("superblock"));
    Files.delete(data.resolve("superblock"));
    assertTrue(unusable().contains("and no superblock"));
    Files.write(data.resolve("superblock"), superblock);
    assertHoldsEverything();
  }

  /**
   * A page of the region table that reads as zeros, as after a bad block: the regions must survive
   * until they are examined.
   */
  @Test
  void regionsWhoseRecordsGotLostAreNotRemoved() throws IOException {
    create();
    Files.delete(data.resolve("stopped"));
    byte[] regions = Files.readAllBytes(data.resolve("regions"));
    Files.write(
        data.resolve("regions"), Arrays.copyOf(Arrays.copyOf(regions, 4096), regions.length));
    for (int i = 0; i < 2; i++) {
      String message = refusal(ErdaException.Damaged.class, () -> ErdaStore.open(data, SMALL));
      assertTrue(message.contains("no record of the region table names it"), message);
    }
    Files.write(data.resolve("regions"), regions);
    assertHoldsEverything();
  }

  @Test
  void foreignFilesWithNamesLikeOursStay() throws IOException {
    for (String name :
        List.of("table-prices.csv", "region-eu.csv", "root", "superblock.new", "table-1")) {
      Path file = Files.writeString(data.resolve(name), "not a store");
      assertTrue(unusable().contains("neither a store nor empty: it holds " + name));
      assertEquals(List.of(name), names());
      assertEquals("not a store", Files.readString(file));
      Files.delete(file);
    }
  }

  private void assertHoldsEverything() {
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      for (int i = 0; i < 20; i++) {
        assertEquals(40 + i, erda.get(key(i)).length);
      }
    }
  }

  @Test
  void wrongGeometry() {
    String message =
        refusal(
            ErdaException.BadArgument.class,
            () -> ErdaStore.open(data, SMALL.withRegionBytes(100_000)));
    assertTrue(message.contains("power of two"), message);
    assertEquals(List.of(), names());
  }

  /**
   * Every bit of an object, in turn: verify names the key, a get never returns anything but the
   * value.
   */
  @Test
  void aFlippedBitAnywhereInAnObjectIsFoundAndNamed() throws IOException {
    byte[] key = "the key".getBytes(StandardCharsets.UTF_8);
    byte[] value = new byte[37];
    new Random(SEED).nextBytes(value);
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      erda.put(key, value);
    }
    Path region =
        data.resolve(
            names().stream().filter(name -> name.startsWith("region-")).findFirst().orElseThrow());
    int bytes = 10 + key.length + value.length;
    for (int bit = 0; bit < 8 * bytes; bit++) {
      flip(region, 64 + bit / 8, 1 << bit % 8);
      VerifyReport report = StoreVerifier.verify(data);
      assertEquals(1, report.findings().size(), "bit " + bit);
      assertArrayEquals(key, report.findings().getFirst().key(), "bit " + bit);
      if (bit % 16 == 3) {
        try (ErdaStore store = ErdaStore.open(data, SMALL);
            ErdaClient erda = store.client()) {
          ErdaException.Damaged damaged =
              assertThrows(ErdaException.Damaged.class, () -> erda.get(key));
          assertTrue(damaged.getMessage().contains("the key"), damaged.getMessage());
        }
      }
      flip(region, 64 + bit / 8, 1 << bit % 8);
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  /** Every byte of an object, with all of its bits the other way round: still named. */
  @Test
  void anyWrongByteOfAnObjectIsFoundAndNamed() throws IOException {
    byte[] key = "another key".getBytes(StandardCharsets.UTF_8);
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      erda.put(key, new byte[5]);
    }
    Path region =
        data.resolve(
            names().stream().filter(name -> name.startsWith("region-")).findFirst().orElseThrow());
    for (int at = 0; at < 10 + key.length + 5; at++) {
      flip(region, 64 + at, 0xff);
      VerifyReport report = StoreVerifier.verify(data);
      assertEquals(1, report.findings().size(), "byte " + at);
      assertArrayEquals(key, report.findings().getFirst().key(), "byte " + at);
      flip(region, 64 + at, 0xff);
    }
  }

  @Test
  void aPutHealsADamagedKey() throws IOException {
    create();
    Path region =
        data.resolve(
            names().stream().filter(name -> name.startsWith("region-")).findFirst().orElseThrow());
    flip(region, 64 + 12, 1);
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      assertThrows(ErdaException.Damaged.class, () -> erda.get(key(0)));
      erda.put(key(0), new byte[] {1, 2});
      assertArrayEquals(new byte[] {1, 2}, erda.get(key(0)));
    }
  }

  private static void flip(Path file, long at, int mask) throws IOException {
    try (RandomAccessFile access = new RandomAccessFile(file.toFile(), "rw")) {
      access.seek(at);
      int old = access.read();
      access.seek(at);
      access.write(old ^ mask);
    }
  }

  private void write(String name, long at, int value) throws IOException {
    try (RandomAccessFile access = new RandomAccessFile(data.resolve(name).toFile(), "rw")) {
      access.seek(at);
      access.write(value);
    }
  }

  private List<String> names() {
    try (Stream<Path> files = Files.list(data)) {
      return new ArrayList<>(files.map(file -> file.getFileName().toString()).sorted().toList());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
