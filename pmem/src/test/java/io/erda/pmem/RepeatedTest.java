package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Iterator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which errors of a call are met with another call, and what comes of it. */
class RepeatedTest {
  private int calls;

  private int result(int... results) {
    calls = 0;
    Iterator<Integer> all = IntStream.of(results).iterator();
    return Repeated.call(() -> {
      calls++;
      return all.next();
    });
  }

  private void assertOutcome(int result, int times, int... results) {
    assertEquals(result, result(results));
    assertEquals(times, calls);
  }

  @Test
  void anErrorThatIsOverAMomentLaterIsNone() {
    assertOutcome(0, 1, 0);
    assertOutcome(0, 2, -Libc.EIO, 0);
    assertOutcome(0, 3, -Libc.EBUSY, -Libc.ENOMEM, 0);
  }

  @Test
  void anErrorThatStaysIsTold() {
    assertOutcome(-Libc.EBUSY, 3, -Libc.EIO, -Libc.EIO, -Libc.EBUSY);
  }

  @Test
  void otherErrorsAreToldAtOnce() {
    assertOutcome(-Libc.ENOSPC, 1, -Libc.ENOSPC);
    assertOutcome(-Libc.EDQUOT, 1, -Libc.EDQUOT);
    assertOutcome(-Libc.EROFS, 1, -Libc.EROFS);
    assertOutcome(-Libc.ENOENT, 1, -Libc.ENOENT);
  }

  /** A call that took effect, and said that it did not. */
  @Test
  void aFileThatIsGoneAfterAnErrorIsTheFirstError() {
    assertOutcome(-Libc.EIO, 2, -Libc.EIO, -Libc.ENOENT);
  }
}
