package io.erda.eval.process;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BareTcpChildTest {
  @Test
  void answersOfAnyLengthComeInOnePieceOrSeveral() {
    try (Children children = new Children();
        BareTcpChild bare = BareTcpChild.start(children, Jvm.current())) {
      bare.roundTrip(8, 1);
      bare.roundTrip(96, 328);
      bare.roundTrip(64 << 10, 64 << 10);
      bare.roundTrip(48, 1304);
    }
  }
}
