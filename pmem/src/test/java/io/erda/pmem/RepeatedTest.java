package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.pmem.libc.Errno;
import java.util.Iterator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests which errors of a call are followed by another call, and the result. */
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
    assertOutcome(0, 2, Errno.EIO.result(), 0);
    assertOutcome(0, 3, Errno.EBUSY.result(), Errno.ENOMEM.result(), 0);
  }

  @Test
  void anErrorThatStaysIsTold() {
    assertOutcome(
        Errno.EBUSY.result(), 3, Errno.EIO.result(), Errno.EIO.result(), Errno.EBUSY.result());
  }

  @Test
  void otherErrorsAreToldAtOnce() {
    assertOutcome(Errno.ENOSPC.result(), 1, Errno.ENOSPC.result());
    assertOutcome(Errno.EDQUOT.result(), 1, Errno.EDQUOT.result());
    assertOutcome(Errno.EROFS.result(), 1, Errno.EROFS.result());
    assertOutcome(Errno.ENOENT.result(), 1, Errno.ENOENT.result());
  }

  /** A call that took effect, and said that it did not. */
  @Test
  void aFileThatIsGoneAfterAnErrorIsTheFirstError() {
    assertOutcome(Errno.EIO.result(), 2, Errno.EIO.result(), Errno.ENOENT.result());
  }
}
