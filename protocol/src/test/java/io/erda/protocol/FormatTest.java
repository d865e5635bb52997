package io.erda.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * The worked examples of FORMAT.md are what the code writes and reads; no bytes from outside break
 * a decoder.
 */
class FormatTest {
  private static final long SEED = Long.getLong("erda.seed", 20261120L);

  @Test
  void rootIsAsDocumented() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment root = arena.allocate(Root.BYTES, 64);
      MemorySegment.copy(MemorySegment.ofArray(example("root")), 0, root, 0, Root.BYTES);
      assertEquals(7, Root.incarnation(root, 0));
      assertEquals(3, Root.epoch(root, 0));
      assertEquals(42, Root.structureCounter(root, 0));
      assertEquals(Protocol.LAYOUT_VERSION, Root.layoutVersion(root, 0));
      assertEquals(349, Root.boot(root, 0));
    }
  }

  @Test
  void helloIsAsDocumented() throws IOException {
    Handshake.Hello hello =
        new Handshake.Hello(Protocol.VERSION, Protocol.LAYOUT_VERSION, Promise.PROCESS, 4711, null);
    assertArrayEquals(example("hello"), bytes(Handshake.encode(hello)));
    assertEquals(hello, Handshake.decodeHello(MemorySegment.ofArray(example("hello"))));
  }

  @Test
  void welcomeIsAsDocumented() throws IOException {
    Handshake.Welcome welcome = welcome().build();
    assertArrayEquals(example("welcome"), bytes(Handshake.encode(welcome)));
    assertEquals(welcome, Handshake.decodeWelcome(MemorySegment.ofArray(example("welcome"))));
  }

  /** Every component has a different value, so that no component can be taken for another one. */
  private static WelcomeBuilder welcome() {
    return new WelcomeBuilder()
        .store(new UUID(0x0011_2233_4455_6677L, 0x8899_aabb_ccdd_eeffL))
        .incarnation(7)
        .rootKey(0x10001)
        .hashSeed(42)
        .regionBytes(64 << 20)
        .segmentBytes(8 << 20)
        .heads(4)
        .promise(Promise.PROCESS)
        .putMode(0)
        .clientId(3)
        .connectionEpoch(8)
        .keyBytesMax(2048)
        .valueBytesMax(8_388_533)
        .messageBytesMax(4096)
        .pollingNs(50_000)
        .requestsMax(32)
        .commitsLine(2)
        .commitsKey(0x50000);
  }

  @Test
  void commitsAreAsDocumented() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment file = arena.allocate(Commits.BYTES, 128);
      Commits.store(file, Commits.MAGIC_OFFSET, Commits.MAGIC);
      Commits.store(file, Commits.VERSION_OFFSET, Commits.versionAndLines());
      Commits.store(file, Commits.TURN_OFFSET, 7);
      Commits.store(file, Commits.TABLE_OFFSET, 1);
      long line = Commits.line(1);
      assertEquals(8192, line);
      long word = 0x8000_0008_0000_0000L;
      assertEquals(7, Commits.stand(file, line, 9, 0x01db_a2ab_89f2_09a9L, 425, 1, word, 40));
      Commits.store(file, Commits.sum(line, 0), Commits.region(2, 3));
      Commits.add(file, Commits.sum(line, 0) + Commits.SECOND, -100);
      Commits.add(file, Commits.sum(line, 0) + Commits.SECOND, 36);
      Commits.store(file, Commits.lease(line, 63), 0x0000_0100_0000_0001L);
      Commits.store(file, Commits.lease(line, 63) + Commits.SECOND, 320);
      assertExample("commits", file, 0);
      assertExample("turn", file, 128);
      assertExample("record", file, 8192);
      assertExample("sum", file, 8192 + 1024);
      assertExample("lease of commits", file, 8192 + 2048 + 63 * 16);
      assertTrue(Commits.isValid(file));
      Commits.clear(file, line);
      assertEquals(0, Commits.load(file, line + Commits.SERIAL));
      assertEquals(2, Commits.headOf(Commits.region(2, 3)));
      assertEquals(255, Commits.headOf(Commits.region(255, 65535)));
      assertEquals(65535, Commits.indexOf(Commits.region(255, 65535)));
    }
  }

  private static void assertExample(String name, MemorySegment file, long at) throws IOException {
    byte[] example = example(name);
    assertArrayEquals(example, bytes(file.asSlice(at, example.length)), name);
  }

  @Test
  void leaseIsAsDocumented() throws IOException {
    MemorySegment message = MemorySegment.ofArray(new byte[Message.LEASE_REQUEST_BYTES]);
    Message.putHeader(message, 0, Message.LEASE, Result.OK, Message.LEASE_REQUEST_BYTES, 4, 3, 7);
    Message.putInt(message, Message.LEASE_HEAD, 0);
    Message.putInt(message, Message.LEASE_BYTES_MIN, 1056);
    assertArrayEquals(example("lease"), bytes(message));

    MemorySegment response = MemorySegment.ofArray(new byte[Message.LEASE_RESPONSE_BYTES]);
    Message.putHeader(response, 0, Message.LEASE, Result.OK, Message.LEASE_RESPONSE_BYTES, 4, 3, 7);
    Message.putLong(response, Message.LEASED_RESERVATION, 0x0000_0100_0000_0001L);
    Message.putLong(response, Message.LEASED_EPOCH, 3);
    Message.putInt(response, Message.LEASED_REGION_INDEX, 0);
    Message.putInt(response, Message.LEASED_GENERATION, 1);
    Message.putLong(response, Message.LEASED_PLACE, 64);
    Message.putLong(response, Message.LEASED_LENGTH, 1056);
    Message.putLong(response, Message.LEASED_KEY, 0x20000);
    assertArrayEquals(example("leased"), bytes(response));
  }

  /** Tests that generate messages of every type rely on this. */
  @Test
  void theTypesAreNumberedFromOneToTheHighest() throws IllegalAccessException {
    Map<String, Integer> constants = new TreeMap<>();
    for (Field field : Message.class.getFields()) {
      constants.put(field.getName(), field.getInt(null));
    }
    List<Integer> types =
        constants.keySet().stream()
            .filter(name ->
                constants.containsKey(name + "_REQUEST_BYTES")
                    || constants.containsKey(name + "_RESPONSE_BYTES"))
            .map(constants::get)
            .sorted()
            .toList();
    assertEquals(IntStream.rangeClosed(1, Message.TYPE_MAX).boxed().toList(), types);
  }

  @Test
  void publishIsAsDocumented() throws IOException {
    MemorySegment message = MemorySegment.ofArray(new byte[Message.PUBLISH_REQUEST_BYTES]);
    Message.putHeader(
        message, 0, Message.PUBLISH, Result.OK, Message.PUBLISH_REQUEST_BYTES, 5, 3, 7);
    Message.putLong(message, Message.PUBLISH_RESERVATION, 0x0000_0100_0000_0001L);
    Message.putInt(message, Message.PUBLISH_OFFSET, 8);
    Message.putInt(message, Message.PUBLISH_OBJECT_BYTES, 1050);
    Message.putInt(message, Message.PUBLISH_HEAD, 0);
    Message.putInt(message, Message.PUBLISH_FLAGS, 0);
    assertArrayEquals(example("publish"), bytes(message));
    assertTrue(Message.wellFormed(message, 0, Message.PUBLISH_REQUEST_BYTES));

    MemorySegment response = MemorySegment.ofArray(new byte[Message.PUBLISH_RESPONSE_BYTES]);
    Message.putHeader(
        response, 0, Message.PUBLISH, Result.OK, Message.PUBLISH_RESPONSE_BYTES, 5, 3, 7);
    Message.putLong(response, Message.PUBLISHED_EXISTED, 1);
    assertArrayEquals(example("published"), bytes(response));
  }

  @Test
  void publishIfEqualIsAsDocumented() throws IOException {
    MemorySegment message = MemorySegment.ofArray(new byte[Message.PUBLISH_IF_EQUAL_BYTES]);
    Message.putHeader(
        message, 0, Message.PUBLISH, Result.OK, Message.PUBLISH_IF_EQUAL_BYTES, 5, 3, 7);
    Message.putLong(message, Message.PUBLISH_RESERVATION, 0x0000_0100_0000_0001L);
    Message.putInt(message, Message.PUBLISH_OFFSET, 8);
    Message.putInt(message, Message.PUBLISH_OBJECT_BYTES, 1050);
    Message.putInt(message, Message.PUBLISH_HEAD, 0);
    Message.putInt(message, Message.PUBLISH_FLAGS, Message.FLAG_IF_EQUAL);
    Message.putInt(message, Message.PUBLISH_EXPECTED_LENGTH, 3);
    putHash(message, Message.PUBLISH_EXPECTED_LENGTH + Message.EXPECTED_HASH);
    assertArrayEquals(example("publish if equal"), bytes(message));
  }

  private static void putHash(MemorySegment message, int at) {
    Message.putLong(message, at, 0x0f3c_a07a_8cc8_bf40L);
    Message.putLong(message, at + 8, 0x1bcb_fc1b_e90c_1b30L);
  }

  @Test
  void announceIfEqualIsAsDocumented() throws IOException {
    byte[] key = {'e', 'r', 'd', 'a'};
    MemorySegment message = message(Message.ANNOUNCE, Message.ANNOUNCE_IF_EQUAL_KEY + 4, 8);
    Message.putLong(message, Message.ANNOUNCE_RESERVATION, 0x0000_0100_0000_0001L);
    Message.putInt(message, Message.ANNOUNCE_OFFSET, 8);
    Message.putInt(message, Message.ANNOUNCE_OBJECT_BYTES, 1050);
    Message.putInt(message, Message.ANNOUNCE_HEAD, 0);
    Message.putInt(message, Message.ANNOUNCE_FLAGS, Message.FLAG_IF_EQUAL);
    Message.putInt(message, Message.ANNOUNCE_KEY_LENGTH, key.length);
    Message.putInt(message, Message.ANNOUNCE_EXPECTED_LENGTH, 3);
    putHash(message, Message.ANNOUNCE_EXPECTED_LENGTH + Message.EXPECTED_HASH);
    MemorySegment.copy(
        key, 0, message, ValueLayout.JAVA_BYTE, Message.ANNOUNCE_IF_EQUAL_KEY, key.length);
    assertArrayEquals(example("announce if equal"), bytes(message));
  }

  @Test
  void aRefusalThatSaysWhyIsAsDocumented() throws IOException {
    MemorySegment message = MemorySegment.ofArray(new byte[47]);
    int length = Message.putReason(message, 0, "table-1: msync failed: ");
    assertEquals(47, length);
    Message.putHeader(message, 0, Message.PUBLISH, Result.READ_ONLY, length, 5, 3, 7);
    assertArrayEquals(example("refused"), bytes(message));
    assertEquals("table-1: msync failed: ", Message.reason(message, 0, length));
    assertEquals("", Message.reason(message, 0, Message.HEADER_BYTES));
  }

  @Test
  void aTextThatIsTooLongIsCutBetweenCharacters() {
    MemorySegment message = MemorySegment.ofArray(new byte[2048]);
    int length = Message.putReason(message, 0, "x" + "é".repeat(1000));
    assertEquals("x" + "é".repeat(511), Message.reason(message, 0, length));
  }

  @Test
  void cleanIsAsDocumented() throws IOException {
    MemorySegment request = message(Message.CLEAN, Message.CLEAN_REQUEST_BYTES, 6);
    Message.putInt(request, Message.CLEAN_HEAD, 2);
    assertArrayEquals(example("clean"), bytes(request));
    assertTrue(Message.wellFormed(request, 0, Message.CLEAN_REQUEST_BYTES));
    assertArrayEquals(
        example("cleaned"), bytes(message(Message.CLEAN, Message.CLEAN_RESPONSE_BYTES, 6)));
  }

  @Test
  void leftIsAsDocumented() throws IOException {
    MemorySegment request = message(Message.LEFT, Message.LEFT_REQUEST_BYTES, 7);
    Message.putLong(request, Message.LEFT_EPOCH, 57);
    assertArrayEquals(example("left"), bytes(request));
    assertTrue(Message.wellFormed(request, 0, Message.LEFT_REQUEST_BYTES));
    assertArrayEquals(
        example("left noted"), bytes(message(Message.LEFT, Message.LEFT_RESPONSE_BYTES, 7)));
  }

  @Test
  void announceIsAsDocumented() throws IOException {
    byte[] key = {'e', 'r', 'd', 'a'};
    int length = Message.ANNOUNCE_KEY + key.length;
    MemorySegment request = message(Message.ANNOUNCE, length, 8);
    Message.putLong(request, Message.ANNOUNCE_RESERVATION, 0x0000_0100_0000_0001L);
    Message.putInt(request, Message.ANNOUNCE_OFFSET, 8);
    Message.putInt(request, Message.ANNOUNCE_OBJECT_BYTES, 1050);
    Message.putInt(request, Message.ANNOUNCE_HEAD, 0);
    Message.putInt(request, Message.ANNOUNCE_FLAGS, 0);
    Message.putInt(request, Message.ANNOUNCE_KEY_LENGTH, key.length);
    MemorySegment.copy(key, 0, request, ValueLayout.JAVA_BYTE, Message.ANNOUNCE_KEY, key.length);
    assertArrayEquals(example("announce"), bytes(request));

    MemorySegment response = message(Message.ANNOUNCE, Message.ANNOUNCE_RESPONSE_BYTES, 8);
    Message.putInt(response, Message.ANNOUNCED_EXISTED, 0);
    Message.putInt(response, Message.ANNOUNCED_AWAITED, 1);
    assertArrayEquals(example("announced"), bytes(response));

    MemorySegment report = message(Message.REPORT, Message.REPORT_REQUEST_BYTES, 9);
    Message.putLong(report, Message.REPORT_KEY_WORD, 0x01db_a2ab_89f2_09a9L);
    Message.putInt(report, Message.REPORT_OFFSET, 8);
    assertArrayEquals(example("report"), bytes(report));
  }

  private static MemorySegment message(int type, int length, long requestId) {
    MemorySegment message = MemorySegment.ofArray(new byte[length]);
    Message.putHeader(message, 0, type, Result.OK, length, requestId, 3, 7);
    return message;
  }

  @Test
  void handshakeRecordsRoundTrip() {
    Handshake.Welcome welcome = welcome().promise(Promise.POWER).putMode(1).build();
    MemorySegment encoded = Handshake.encode(welcome);
    assertTrue(encoded.byteSize() <= 192);
    assertEquals(welcome, Handshake.decodeWelcome(encoded));
    assertNull(Handshake.decodeRefusal(encoded));
    Handshake.Refusal refusal =
        new Handshake.Refusal(
            Handshake.Refusal.PROMISE, "store promises PROCESS, client requires POWER");
    assertEquals(refusal, Handshake.decodeRefusal(Handshake.encode(refusal)));
    String long200 = "x".repeat(200);
    assertTrue(Handshake.encode(new Handshake.Refusal(1, long200)).byteSize() <= 192);
  }

  @Test
  void noBytesFromOutsideBreakADecoder() {
    Random random = new Random(SEED);
    byte[][] whole = {
      bytes(
          Handshake.encode(
              new Handshake.Hello(
                  Protocol.VERSION, Protocol.LAYOUT_VERSION, null, 1, new UUID(3, 4)))),
      bytes(Handshake.encode(welcome().build())),
      bytes(Handshake.encode(new Handshake.Refusal(1, "no")))
    };
    for (int run = 0; run < 20_000; run++) {
      byte[] bytes = whole[random.nextInt(whole.length)].clone();
      for (int flips = random.nextInt(6); flips > 0; flips--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      MemorySegment cut = MemorySegment.ofArray(bytes).asSlice(0, random.nextInt(bytes.length + 1));
      try {
        Handshake.decodeHello(cut);
        Handshake.decodeWelcome(cut);
        Handshake.decodeRefusal(cut);
      } catch (RuntimeException e) {
        throw new AssertionError("run " + run + " of -Derda.seed=" + SEED, e);
      }
    }
  }

  private static byte[] bytes(MemorySegment segment) {
    return segment.toArray(ValueLayout.JAVA_BYTE);
  }

  /** The bytes of the indented block of FORMAT.md that begins with this name. */
  private static byte[] example(String name) throws IOException {
    List<String> lines = Files.readAllLines(Path.of("FORMAT.md"));
    StringBuilder hex = new StringBuilder();
    int at = lines.indexOf("    " + name);
    assertTrue(at >= 0, "no example called " + name);
    for (int i = at + 1; i < lines.size() && lines.get(i).startsWith("    "); i++) {
      String line = lines.get(i).strip();
      hex.append(line, 0, Math.min(line.length(), 23)).append(' ');
    }
    return HexFormat.of().parseHex(hex.toString().replace(" ", ""));
  }
}
