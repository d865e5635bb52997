package io.erda.eval.peers.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.eval.process.ProcessException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The lines between a store's process and the measuring one. */
class PeerAnswerTest {
  @Test
  void whatIsWrittenIsRead() {
    assertEquals(250, PeerAnswer.nsPerOperation("LMDB", PeerAnswer.done(4, 1000)));
    assertEquals(0, PeerAnswer.nsPerOperation("LMDB", PeerAnswer.done(4, 0)));
    assertEquals("a kill", PeerAnswer.durability("LMDB", PeerAnswer.open("a kill")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "done ",
        "done 4",
        "done 4 ",
        "done  1000",
        "done 0 1000",
        "done -4 1000",
        "done 4 -1000",
        "done 4 1000 7",
        "done 4 1000ns",
        "done four 1000",
        "done 4 NaN",
        "done 4 10000000000000000000",
        "done 4done 4 1000"
      })
  void aNumberThatIsNotThereIsSaid(String line) {
    ProcessException e =
        assertThrows(ProcessException.class, () -> PeerAnswer.nsPerOperation("LMDB", line));
    assertEquals("LMDB answered '" + line + "', not 'done OPERATIONS NANOSECONDS'", e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"open ", "open   "})
  void anOpenStoreSaysWhatItPromises(String line) {
    ProcessException e =
        assertThrows(ProcessException.class, () -> PeerAnswer.durability("LMDB", line));
    assertEquals("LMDB opened a store and did not say what a put survives", e.getMessage());
  }
}
