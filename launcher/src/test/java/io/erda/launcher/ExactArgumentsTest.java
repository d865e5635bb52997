package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.console.UserError;
import org.junit.jupiter.api.Test;

class ExactArgumentsTest {
  private static final byte[] COMMAND_LINE =
      "java\0-cp\0x.jar\0Main\0get\0schlüssel\0\0".getBytes(UTF_8);

  @Test
  void whatTheLocaleLostIsTakenFromTheCommandLine() {
    assertArrayEquals(
        new String[] {"get", "schlüssel", ""},
        ExactArguments.of(new String[] {"get", "schl\uFFFD\uFFFDssel", ""}, COMMAND_LINE));
  }

  @Test
  void anotherCommandLineIsNotBelieved() {
    String[] whole = {"put", "key"};
    assertArrayEquals(whole, ExactArguments.of(whole, COMMAND_LINE));
    assertThrows(
        UserError.class,
        () -> ExactArguments.of(new String[] {"put", "schl\uFFFDssel", ""}, COMMAND_LINE));
    assertThrows(
        UserError.class, () -> ExactArguments.of(new String[] {"\uFFFD"}, "java".getBytes(UTF_8)));
  }
}
