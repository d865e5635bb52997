package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The worked examples of {@code FORMAT.md} are what the code writes and reads. */
class FormatTest {
  private static final long BUCKETS = 1024;
  private static final long SEED = 42;
  private static final int HEADS = 4;
  private static final byte[] KEY = "erda".getBytes(StandardCharsets.UTF_8);

  /** The lines of the fenced block whose first line is {@code ```text NAME}, without comments. */
  private static List<String> example(String name) throws IOException {
    List<String> lines = new ArrayList<>();
    boolean inside = false;
    for (String line : Files.readAllLines(Path.of("FORMAT.md"))) {
      if (line.startsWith("```")) {
        inside = line.equals("```text " + name);
      } else if (inside && !line.isBlank()) {
        lines.add(line.split(" # ")[0].strip());
      }
    }
    assertTrue(!lines.isEmpty(), "no example " + name + " in FORMAT.md");
    return lines;
  }

  /** The bytes of a dump: lines of an offset (hex), a colon, bytes. */
  private static void assertDump(String name, MemorySegment memory) throws IOException {
    for (String line : example(name)) {
      String[] parts = line.split(":");
      long offset = Long.parseLong(parts[0].strip(), 16);
      byte[] expected = HexFormat.of().parseHex(parts[1].replace(" ", ""));
      byte[] found = memory.asSlice(offset, expected.length).toArray(ValueLayout.JAVA_BYTE);
      assertEquals(
          HexFormat.ofDelimiter(" ").formatHex(expected),
          HexFormat.ofDelimiter(" ").formatHex(found),
          name);
    }
  }

  private static long keyWord() {
    return Entry.keyWord(new KeyHash(SEED).of(MemorySegment.ofArray(KEY), 0, KEY.length), HEADS);
  }

  @Test
  void header() throws IOException {
    PlainMemory memory = new PlainMemory(HashTable.bytesFor(BUCKETS));
    HashTable.create(memory, BUCKETS, new CrashExplorer.NoCounter());
    assertDump("header", memory.segment());
  }

  @Test
  void entry() throws IOException {
    PlainMemory memory = new PlainMemory(HashTable.bytesFor(BUCKETS));
    HashTable table = HashTable.create(memory, BUCKETS, new CrashExplorer.NoCounter());
    table.insert(keyWord(), VersionWord.first(8, false));
    assertDump("entry", memory.segment());
    List<String> facts = example("hash");
    long hash = new KeyHash(SEED).of(MemorySegment.ofArray(KEY), 0, KEY.length);
    assertEquals(
        List.of(
            "hash     " + TableLayout.hex(hash),
            "head     " + Entry.head(hash, HEADS),
            "key word " + TableLayout.hex(keyWord()),
            "bucket   " + Entry.bucket(keyWord(), BUCKETS),
            "slot at  " + Neighbourhood.offset(keyWord(), BUCKETS)),
        facts);
  }

  /** Each line: the transition, the word after it, newest, older. */
  @Test
  void transitions() throws IOException {
    long word = 0;
    for (String line : example("transitions")) {
      String[] parts = line.split(" {2,}");
      String[] step = parts[0].split(" ");
      word =
          switch (step[0]) {
            case "first" -> VersionWord.first(Integer.parseInt(step[1]), step.length == 3);
            case "update" -> VersionWord.update(word, Integer.parseInt(step[1]), step.length == 3);
            case "commit" -> VersionWord.commit(word);
            case "rollback" -> VersionWord.rollback(word);
            case "relocate" -> VersionWord.withNewest(word, Integer.parseInt(step[1]));
            default -> throw new AssertionError(line);
          };
      assertEquals(parts[1], TableLayout.hex(word), line);
      assertEquals(parts[2], VersionWord.toString(word), line);
    }
  }

  /**
   * 16 entries fill the neighbourhood of bucket 0; one more moves slot 15's to slot 16, and the
   * process dies before it moves.
   */
  @Test
  void intent() throws IOException {
    CrashMemory memory = new CrashMemory(HashTable.bytesFor(BUCKETS));
    HashTable table = HashTable.create(memory, BUCKETS, new CrashExplorer.NoCounter());
    for (int slot = 0; slot < 16; slot++) {
      table.insert(
          (slot + 1L) << 32 | (slot < 15 ? 0 : 1), VersionWord.first(8 * (slot + 1), false));
    }
    memory.crashBefore(12);
    try {
      table.insert(17L << 32, VersionWord.first(136, false));
      throw new AssertionError("no displacement");
    } catch (CrashMemory.Crash e) {
      assertDump("intent", memory.segment());
    }
    HashTable again =
        HashTable.open(
            memory.outcomes(1, new java.util.SplittableRandom(1)).get(0),
            new CrashExplorer.NoCounter());
    assertEquals(16, again.find(16L << 32 | 1, (slot, word) -> true));
  }

  /** The process dies right after it stored the first MOVED of two. */
  @Test
  void moved() throws IOException {
    CrashMemory memory = new CrashMemory(HashTable.bytesFor(BUCKETS));
    HashTable table = HashTable.create(memory, BUCKETS, new CrashExplorer.NoCounter());
    table.insert(1L << 32 | 512, VersionWord.first(8, false));
    table.insert(2L << 32 | 513, VersionWord.first(16, false));
    CrashMemory twice = new CrashMemory(HashTable.bytesFor(2 * BUCKETS));
    HashTable next = HashTable.create(twice, 2 * BUCKETS, new CrashExplorer.NoCounter());
    Resizing doubling = Resizing.open(table, next);
    doubling.doWork(512, (slot, key, word) -> {});
    memory.crashBefore(6);
    try {
      doubling.doWork(2, (slot, key, word) -> {});
      throw new AssertionError("no crash");
    } catch (CrashMemory.Crash e) {
      assertDump("moved", memory.segment());
    }
    assertEquals(VersionWord.NONE, VersionWord.committed(VersionWord.MOVED));
    assertEquals(0, VersionWord.committed(table.versionWord(512)));
    assertEquals(512, next.find(1L << 32 | 512, (slot, word) -> true));
    HashTable again =
        HashTable.open(
            memory.outcomes(1, new java.util.SplittableRandom(1)).get(0),
            new CrashExplorer.NoCounter());
    HashTable nextAgain =
        HashTable.open(
            twice.outcomes(1, new java.util.SplittableRandom(1)).get(0),
            new CrashExplorer.NoCounter());
    Resizing.open(again, nextAgain);
    assertEquals(HashTable.NONE, nextAgain.find(2L << 32 | 513, (slot, word) -> true));
    assertEquals(512, nextAgain.find(1L << 32 | 512, (slot, word) -> true));
  }
}
