package io.erda.ycsb;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.ycsb.RecordFormat.DamagedRecordException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.RandomByteIterator;

class RecordFormatTest {
  private final RecordFormat format = new RecordFormat();

  @Test
  void theWorkedExampleOfTheFormatPage() throws IOException {
    assertArrayEquals(
        example("key"), new RecordKey(true).of("usertable", "user42").toArray(JAVA_BYTE));
    Map<String, ByteIterator> fields = new LinkedHashMap<>();
    fields.put("field0", bytes("hi"));
    fields.put("field1", bytes("x".repeat(200)));
    format.encode(fields);
    assertArrayEquals(example("value"), encoded());
    assertEquals(Map.of("field0", "hi", "field1", "x".repeat(200)), decode(example("value"), null));
  }

  @Test
  void aTableOfItsOwnKeepsKeysApart() {
    RecordKey keys = new RecordKey(true);
    byte[] first = keys.of("a", "bc").toArray(JAVA_BYTE);
    byte[] second = keys.of("ab", "c").toArray(JAVA_BYTE);
    assertTrue(!Arrays.equals(first, second));
    assertArrayEquals(first, keys.of("a", "bc").toArray(JAVA_BYTE));
    assertArrayEquals("bc".getBytes(UTF_8), new RecordKey(false).of("a", "bc").toArray(JAVA_BYTE));
    String longKey = "k".repeat(1000);
    assertArrayEquals(("a\0" + longKey).getBytes(UTF_8), keys.of("a", longKey).toArray(JAVA_BYTE));
  }

  @Test
  void chosenFieldsAlone() {
    format.encode(Map.of("a", bytes("1"), "b", bytes("2"), "c", bytes("")));
    byte[] record = encoded();
    assertEquals(Map.of("a", "1", "c", ""), decode(record, Set.of("a", "c", "none")));
    assertEquals(Map.of(), decode(record, Set.of()));
  }

  @Test
  void mergingReplacesAddsAndKeeps() {
    long seed = Long.getLong("erda.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int round = 0; round < 500; round++) {
      Map<String, String> model = randomFields(random);
      Map<String, String> changes = randomFields(random);
      format.encode(iterators(model));
      byte[] old = encoded();
      format.merge(old, old.length, iterators(changes));
      model.putAll(changes);
      assertEquals(model, decode(encoded(), null), "replay with -Derda.seed=" + seed);
    }
  }

  @Test
  void randomBytesOfYcsbKeepTheirLength() {
    Map<String, ByteIterator> fields = new HashMap<>();
    for (int i = 0; i < 20; i++) {
      fields.put("field" + i, new RandomByteIterator(i * 7));
    }
    format.encode(fields);
    Map<String, String> back = decode(encoded(), null);
    for (int i = 0; i < 20; i++) {
      assertEquals(i * 7, back.get("field" + i).length());
    }
  }

  @Test
  void noDamageIsTakenForARecord() {
    format.encode(Map.of("field0", bytes("hello")));
    byte[] record = encoded();
    for (int length = 0; length < record.length; length++) {
      byte[] cut = Arrays.copyOf(record, length);
      assertThrows(DamagedRecordException.class, () -> decode(cut, null));
    }
    assertThrows(
        DamagedRecordException.class, () -> decode(Arrays.copyOf(record, record.length + 1), null));
    byte[] otherFormat = record.clone();
    otherFormat[0] = 2;
    assertThrows(DamagedRecordException.class, () -> decode(otherFormat, null));
    byte[] hugeLength = {1, 1, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, 0x0f};
    assertThrows(DamagedRecordException.class, () -> decode(hugeLength, null));
  }

  private Map<String, String> randomFields(Random random) {
    Map<String, String> fields = new TreeMap<>();
    int count = random.nextInt(12);
    for (int i = 0; i < count; i++) {
      int length = random.nextInt(10) == 0 ? random.nextInt(20000) : random.nextInt(20);
      fields.put("f" + random.nextInt(100), "v".repeat(length));
    }
    return fields;
  }

  private static Map<String, ByteIterator> iterators(Map<String, String> fields) {
    Map<String, ByteIterator> iterators = new LinkedHashMap<>();
    fields.forEach((name, value) -> iterators.put(name, bytes(value)));
    return iterators;
  }

  private Map<String, String> decode(byte[] record, Set<String> wanted) {
    Map<String, ByteIterator> result = new HashMap<>();
    format.decode(record, record.length, wanted, result);
    Map<String, String> strings = new HashMap<>();
    result.forEach((name, value) -> strings.put(name, new String(value.toArray(), UTF_8)));
    return strings;
  }

  private byte[] encoded() {
    return Arrays.copyOf(format.bytes(), format.length());
  }

  private static ByteIterator bytes(String text) {
    return new ByteArrayByteIterator(text.getBytes(UTF_8));
  }

  /**
   * The bytes of a fenced block of FORMAT.md: pairs of hex digits, {@code HH*N}, then two spaces
   * and a remark.
   */
  private static byte[] example(String block) throws IOException {
    String page = Files.readString(Path.of("FORMAT.md"));
    String fence = "```hex " + block + "\n";
    int from = page.indexOf(fence) + fence.length();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (String line : page.substring(from, page.indexOf("```", from)).split("\n")) {
      for (String token : line.split(" {2,}")[0].strip().split(" ")) {
        String[] parts = token.split("\\*");
        int times = parts.length > 1 ? Integer.parseInt(parts[1]) : 1;
        for (int i = 0; i < times; i++) {
          bytes.write(Integer.parseInt(parts[0], 16));
        }
      }
    }
    return bytes.toByteArray();
  }
}
