package io.erda.eval.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenedTest {
  private final List<String> closed = new ArrayList<>();
  private final Error error = new AssertionError("of the second");
  private final RuntimeException exception = new IllegalStateException("of the third");

  private Opened three() {
    Opened opened = new Opened();
    opened.add(() -> closed.add("first"));
    opened.add(() -> {
      throw error;
    });
    opened.add(() -> {
      closed.add("third");
      throw exception;
    });
    return opened;
  }

  @Test
  void allAreClosedInReverseOrderWhateverThrows() {
    Opened opened = three();
    assertSame(exception, assertThrows(RuntimeException.class, opened::close));
    assertEquals(List.of("third", "first"), closed);
    assertArrayEquals(new Throwable[] {error}, exception.getSuppressed());
    opened.close();
    assertEquals(List.of("third", "first"), closed, "once");
  }

  @Test
  void aFailureKeepsItsPlace() {
    Exception failure = new Exception("before");
    three().closeAfter(failure);
    assertEquals(List.of("third", "first"), closed);
    assertArrayEquals(new Throwable[] {exception, error}, failure.getSuppressed());
  }
}
