package io.erda.launcher.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

final class FilePathTest {
  /** Found by a review: such a name was told to set the locale that was set already. */
  @Test
  void aNameThatIsNoUtf8NeedsAnotherNameAndNoOtherLocale() {
    String name = ExactText.of(new byte[] {'/', 't', '/', (byte) 0xff, (byte) 0xfe});
    TypeConversionException e =
        assertThrows(TypeConversionException.class, () -> new FilePath().convert(name));
    assertEquals(
        "the JVM can't name 0x2f742ffffe, which is no UTF-8, in any locale: choose another name",
        e.getMessage());
  }

  @Test
  void otherNamesAreNames() {
    assertEquals(Path.of("a b"), new FilePath().convert("a b"));
  }
}
