package io.erda.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

class ByteSizeTest {
  @Test
  void numbersWithUnitsAndFractionsOfWholeBytes() {
    assertEquals(512, new ByteSize().convert("512"));
    assertEquals(64 << 10, new ByteSize().convert("64k"));
    assertEquals(3L << 29, new ByteSize().convert("1.5G"));
    assertEquals(3L << 29, new ByteSize().convert("1.5GiB"));
    assertEquals(1L << 40, new ByteSize().convert("1T"));
  }

  @Test
  void everythingElseIsRefused() {
    for (String text :
        new String[] {"", "K", "-3", "1.3K", "1e3", "0x10", "1..5G", "1.5", "99999999999T", "7x"}) {
      assertThrows(TypeConversionException.class, () -> new ByteSize().convert(text), text);
    }
  }
}
