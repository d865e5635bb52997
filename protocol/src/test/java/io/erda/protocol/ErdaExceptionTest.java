package io.erda.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ErdaExceptionTest {
  /** A server's refusal, or a URI, may hold anything: a second line, or a command to a terminal. */
  @Test
  void aMessageIsOneLineWhateverAPeerSaid() {
    assertEquals(
        "go away??[31m?red ü 😀",
        new ErdaException.Refused("go away\n\u001b[31m\u2028red ü 😀").getMessage());
  }
}
