package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.RegistryLayout;
import io.erda.rdma.rings.Ring;
import io.erda.rdma.shm.ShmRegistry;
import io.erda.rdma.shm.ShmSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The worked examples of FORMAT.md are what the code writes. */
final class FormatTest {
  @Test
  void ringExample() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment queue = arena.allocate(QueueLayout.BYTES, 128);
      MemorySegment.copy(
          MemorySegment.ofArray(new byte[] {1, 1, 1, 1, 1, 1, 1, 1}),
          0,
          queue,
          QueueLayout.TO_RESPONDER_RING_OFFSET + 32,
          8);
      Ring.Producer ring =
          new Ring.Producer(
              queue,
              QueueLayout.TO_RESPONDER_RING_OFFSET,
              QueueLayout.TO_RESPONDER_CONSUMED_OFFSET);
      MemorySegment hello = MemorySegment.ofArray("hello".getBytes(StandardCharsets.US_ASCII));
      assertEquals(Ring.FITS, ring.offer(Ring.TYPE_SEND, 0, hello, 0, 5));
      MemorySegment length = MemorySegment.ofArray(new byte[] {24, 0, 0, 0});
      assertEquals(Ring.FITS, ring.offer(Ring.TYPE_WRITE_IMM, 0xcafe_babe, length, 0, 4));
      assertHolds(example("ring"), queue, QueueLayout.TO_RESPONDER_RING_OFFSET);
    }
  }

  @Test
  void slotExample() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment registry = arena.allocate(RegistryLayout.BYTES, 8);
      ShmRegistry.writeSlot(
          registry,
          0,
          8192,
          4096,
          77,
          3,
          "region-0-1".getBytes(StandardCharsets.UTF_8),
          RegistryLayout.key(2, 0));
      assertHolds(example("slot"), registry, RegistryLayout.FIRST_SLOT_OFFSET);
      assertEquals(2_113_792, RegistryLayout.BYTES);
    }
  }

  @Test
  void helloIsReadAsItIsWritten() {
    ByteBuffer hello = ShmSocket.hello("queue-4711-0");
    assertEquals("ERDAHEL\0", new String(hello.array(), 0, 8, StandardCharsets.US_ASCII));
    assertEquals("queue-4711-0", ShmSocket.helloName(hello));
    assertEquals("ERDAQUE\0", ascii(QueueLayout.MAGIC));
    assertEquals("ERDAREG\0", ascii(RegistryLayout.MAGIC));
  }

  private static String ascii(long magic) {
    return new String(
        ByteBuffer.allocate(8).putLong(Long.reverseBytes(magic)).array(),
        StandardCharsets.US_ASCII);
  }

  private static void assertHolds(byte[] expected, MemorySegment memory, long at) {
    byte[] actual = memory.asSlice(at, expected.length).toArray(ValueLayout.JAVA_BYTE);
    assertEquals(
        HexFormat.ofDelimiter(" ").formatHex(expected),
        HexFormat.ofDelimiter(" ").formatHex(actual));
  }

  private static byte[] example(String name) throws IOException {
    Path format = Path.of("FORMAT.md");
    Matcher matcher =
        Pattern.compile("```hex " + name + "\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(format));
    assertEquals(true, matcher.find(), "example " + name);
    return HexFormat.ofDelimiter(" ").parseHex(matcher.group(1).strip().replaceAll("\\s+", " "));
  }
}
