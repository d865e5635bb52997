package io.erda.launcher.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.console.UserError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ListenAddressTest {
  @ParameterizedTest
  @CsvSource({
    "7550, 127.0.0.1:7550",
    ":0, 127.0.0.1:0",
    "localhost:65535, localhost:65535",
    "[::1]:7550, [::1]:7550",
  })
  void aPortWithoutAHostIsOnLoopback(String text, String address) {
    assertEquals(address, ListenAddress.of("--listen", text));
  }

  /** Found by a tester: these were told as errors of the start, with exit code 1. */
  @ParameterizedTest
  @CsvSource({
    "localhost, '--listen: not HOST:PORT or PORT: localhost'",
    "localhost:, '--listen: not HOST:PORT or PORT: localhost:'",
    "'', '--listen: not HOST:PORT or PORT: '",
    "localhost:-1, '--listen: not HOST:PORT or PORT: localhost:-1'",
    "localhost:99999, '--listen: no port: 99999'",
    "1:99999999999, '--listen: no port: 99999999999'",
  })
  void whatIsNoAddressIsAMistakeOfTheCommandLine(String text, String message) {
    assertMistake(text, message);
  }

  @Test
  void anIpv6AddressHasBrackets() {
    assertMistake(
        "::1:7550",
        "--listen: an IPv6 address has brackets around it, [::1]:7550, and this has none:"
            + " ::1:7550");
  }

  private static void assertMistake(String text, String message) {
    UserError e = assertThrows(UserError.class, () -> ListenAddress.of("--listen", text));
    assertEquals(message, e.getMessage());
    assertEquals(2, e.exitCode());
  }
}
