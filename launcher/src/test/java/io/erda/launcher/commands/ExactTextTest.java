package io.erda.launcher.commands;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ExactTextTest {
  @Test
  void textStaysText() {
    String text = "schlüssel → 🔑 \uFFFD";
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    assertEquals(text, ExactText.of(bytes));
    assertArrayEquals(bytes, ExactText.bytes(text));
    assertEquals(text, ExactText.printable(bytes));
  }

  @Test
  void bytesThatAreNoTextStayThemselves() {
    // A lone continuation byte, an unfinished sequence, a surrogate in UTF-8, an overlong slash.
    for (String hex :
        new String[] {"80", "c3", "61ff62", "eda080", "edb280", "c0af", "f09f94", ""}) {
      byte[] bytes = HexFormat.of().parseHex(hex);
      assertArrayEquals(bytes, ExactText.bytes(ExactText.of(bytes)), hex);
    }
    assertEquals("0xff", ExactText.printable(new byte[] {(byte) 0xff}));
    assertEquals("0x0a", ExactText.quoted(new byte[] {'\n'}));
  }

  @Test
  void everyArrayOfBytesHasATextOfItsOwn() {
    long seed = Long.getLong("erda.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(12)];
      for (int at = 0; at < bytes.length; at++) {
        // Those with which sequences of UTF-8 begin and go on, more often than others.
        bytes[at] =
            (byte) (random.nextBoolean() ? random.nextInt(256) : 0x80 + random.nextInt(128));
      }
      assertArrayEquals(
          bytes, ExactText.bytes(ExactText.of(bytes)), "again with -Derda.seed=" + seed);
    }
  }

  @Test
  void aSurrogateThatStandsForNoByteIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> ExactText.bytes("\uD800"));
    assertThrows(IllegalArgumentException.class, () -> ExactText.bytes("\uDC41"));
  }
}
