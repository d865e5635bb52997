package io.erda.pmem.libc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NicenessTest {
  /**
   * Found by a stranger: where the C library could not be opened, for want of files, a backup
   * waited for ever.
   */
  @Test
  void whoWaitsForWorkAsideIsToldWhenItCanNotBegin() {
    Error error = new ExceptionInInitializerError("no library");
    Error thrown =
        assertThrows(
            Error.class,
            () ->
                Niceness.callAside(
                    () -> {
                      throw error;
                    },
                    () -> 1));
    assertEquals(error, thrown);
  }

  @Test
  void workAsideReturns() throws Exception {
    assertEquals(1, Niceness.callAside(() -> 1));
  }
}
