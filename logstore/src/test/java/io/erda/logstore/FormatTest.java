package io.erda.logstore;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The hex blocks and numbers of FORMAT.md are what the code stores, and the code reads them. */
class FormatTest {
  private static final LogGeometry GEOMETRY = new LogGeometry(4, 64 << 20, 8 << 20, 16);
  private static final UUID STORE = UUID.fromString("01234567-89ab-cdef-fedc-ba9876543210");
  private static final int SLOT = 5;
  private static final int HEAD = 2;
  private static final int INDEX = 1;
  private static final int GENERATION = 3;
  private static final byte[] KEY = "user1".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] VALUE = "Erda!".getBytes(StandardCharsets.US_ASCII);

  private static String document;

  @BeforeAll
  static void read() throws IOException {
    document = Files.readString(Path.of("FORMAT.md"));
  }

  /** Lines of "position bytes in hex |text|"; the position must be right. */
  private static byte[] block(String name) {
    Matcher matcher =
        Pattern.compile("```hex " + name + "\n(.*?)```", Pattern.DOTALL).matcher(document);
    assertTrue(matcher.find(), name);
    StringBuilder hex = new StringBuilder();
    for (String line : matcher.group(1).lines().toList()) {
      String[] parts = line.strip().split("  +");
      assertEquals(hex.length() / 2, Integer.parseInt(parts[0], 16), line);
      hex.append(parts[1].replace(" ", ""));
    }
    return HexFormat.of().parseHex(hex);
  }

  private static String dump(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (int at = 0; at < bytes.length; at += 16) {
      byte[] line = Arrays.copyOfRange(bytes, at, Math.min(at + 16, bytes.length));
      text.append("%04x  %s%n".formatted(at, HexFormat.ofDelimiter(" ").formatHex(line)));
    }
    return text.toString();
  }

  private static void requireBlock(String name, byte[] expected) {
    assertEquals(dump(expected), dump(block(name)), () -> name + " must be\n" + dump(expected));
    assertArrayEquals(expected, block(name), name);
  }

  private static byte[] object(int offset, boolean tombstone) {
    byte[] buffer = new byte[64];
    int stored =
        new ObjectWriter(MemorySegment.ofArray(buffer))
            .write(
                0,
                MemorySegment.ofArray(KEY),
                0,
                KEY.length,
                MemorySegment.ofArray(VALUE),
                0,
                tombstone ? 0 : VALUE.length,
                tombstone,
                ObjectChecksum.positionMix(HEAD, GENERATION, offset));
    return Arrays.copyOf(buffer, stored);
  }

  private static void requireNumbers(byte[] object, int bytes, int offset) {
    CRC32C crc = new CRC32C();
    crc.update(object, 4, bytes - 4);
    int mix = ObjectChecksum.positionMix(HEAD, GENERATION, offset);
    int checksum = ObjectLayout.checksum(MemorySegment.ofArray(object), 0);
    assertEquals(checksum, (int) crc.getValue() ^ mix);
    for (int number : new int[] {mix, (int) crc.getValue(), checksum}) {
      String hex = "0x%08X".formatted(number);
      assertTrue(
          document.contains(hex),
          () -> "FORMAT.md must have " + hex + " of an object at offset " + offset);
    }
  }

  @Test
  void anObject() {
    int offset = GEOMETRY.offset(INDEX, 8 << 20);
    assertEquals(9437184, offset);
    requireBlock("object", object(offset, false));
    requireNumbers(block("object"), 20, offset);
    MemorySegment memory = MemorySegment.ofArray(block("object"));
    assertEquals(
        20,
        new ObjectChecksum(memory)
            .validBytes(0, 24, ObjectChecksum.positionMix(HEAD, GENERATION, offset)));
    assertEquals(
        "user1",
        new String(
            memory.asSlice(10, 5).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII));
  }

  @Test
  void aTombstone() {
    int offset = GEOMETRY.offset(INDEX, (8 << 20) + 24);
    assertEquals(9437187, offset);
    requireBlock("tombstone", object(offset, true));
    requireNumbers(block("tombstone"), 15, offset);
    assertTrue(ObjectLayout.tombstone(MemorySegment.ofArray(block("tombstone")), 0));
  }

  @Test
  void aRegionHeader() {
    byte[] header =
        RegionHeader.bytes(GEOMETRY, STORE, SLOT, HEAD, INDEX, GENERATION)
            .toArray(ValueLayout.JAVA_BYTE);
    requireBlock("region-header", header);
    assertEquals("ErdaRegn", new String(header, 0, 8, StandardCharsets.US_ASCII));
  }

  @Test
  void theTableAndARecord() throws IOException {
    try (CrashDirectory directory = new CrashDirectory()) {
      RegionTable table = new RegionTable(directory.create("regions", RegionTable.bytes(GEOMETRY)));
      table.format(GEOMETRY, STORE);
      table.storeNextGeneration(4);
      table.storeLinkWord(SLOT, RegionTable.linkWord(HEAD, INDEX, GENERATION));
      table.storeHigh(SLOT, 9 << 20);
      table.storeLow(SLOT, (8 << 20) + 40);
      MemorySegment bytes = table.memory().segment();
      requireBlock("table-header", bytes.asSlice(0, 72).toArray(ValueLayout.JAVA_BYTE));
      requireBlock("record", bytes.asSlice(4096 + 64 * SLOT, 64).toArray(ValueLayout.JAVA_BYTE));
      assertEquals("ErdaLogT", new String(block("table-header"), 0, 8, StandardCharsets.US_ASCII));
    }
  }

  @Test
  void aLogOfTheBytesInTheDocumentOpens() throws IOException {
    try (CrashDirectory directory = new CrashDirectory()) {
      put(
          directory.create("regions", RegionTable.bytes(GEOMETRY)).segment(),
          0,
          block("table-header"));
      put(directory.peek("regions").segment(), 4096 + 64 * SLOT, block("record"));
      MemorySegment region = directory.create("region-5-3", GEOMETRY.regionBytes()).segment();
      put(region, 0, block("region-header"));
      put(region, 8 << 20, block("object"));
      put(region, (8 << 20) + 24, block("tombstone"));
      try (LogStore log = LogStore.open(directory, GEOMETRY, STORE)) {
        assertEquals(1, log.regions().size());
        StringBuilder found = new StringBuilder();
        // The low-water mark of the record lies behind both objects.
        assertEquals((1 << 20) - 40, log.scan((r, offset, place, bytes) -> found.append(offset)));
        assertEquals("", found.toString());
      }
      directory
          .peek("regions")
          .segment()
          .set(ValueLayout.JAVA_BYTE, 4096 + 64 * SLOT + 16, (byte) 0);
      try (LogStore log = LogStore.open(directory, GEOMETRY, STORE)) {
        StringBuilder found = new StringBuilder();
        log.scan((r, offset, place, bytes) ->
            found.append(offset).append(':').append(bytes).append(' '));
        assertEquals("9437184:20 9437187:15 ", found.toString());
      }
    }
  }

  private static void put(MemorySegment memory, long offset, byte[] bytes) {
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, offset, bytes.length);
  }
}
