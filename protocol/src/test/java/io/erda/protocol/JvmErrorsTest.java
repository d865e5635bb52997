package io.erda.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** What a user is told of an error that ended something. */
class JvmErrorsTest {
  @Test
  void anErrorOfErdaIsToldWithoutItsType() {
    assertEquals("files failed", JvmErrors.tell(new ErdaException.ReadOnly("files failed")));
  }

  @Test
  void anyOtherErrorIsToldWithIt() {
    assertEquals(
        "java.lang.IllegalStateException: no", JvmErrors.tell(new IllegalStateException("no")));
  }
}
