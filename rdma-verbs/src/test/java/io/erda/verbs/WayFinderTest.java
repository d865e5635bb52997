package io.erda.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests how long an address is searched, and when it counts as missing. No RDMA is needed. */
class WayFinderTest {
  private static final InetSocketAddress TO = new InetSocketAddress(0);
  private static final int NO_DEVICE = 19;

  private final List<Integer> lookedMs = new ArrayList<>();
  private long remainingMs;
  private final WayFinder way =
      new WayFinder((to, ms) -> lookedMs.add(ms), () -> remainingMs * 1_000_000);

  private boolean goesOnAfter(int status) throws IOException {
    return way.goesOn(CmEvents.ADDR_ERROR, status);
  }

  @Test
  void looksAgainAndAgainAndThenNobodyHasTheAddress() throws IOException {
    remainingMs = 600;
    way.look(TO);
    assertFalse(way.isMissing(), "before anybody could answer");
    remainingMs = 350;
    assertTrue(goesOnAfter(-WayFinder.ETIMEDOUT));
    remainingMs = 100;
    assertTrue(goesOnAfter(-WayFinder.ETIMEDOUT));
    assertEquals(List.of(WayFinder.LOOK_MS, WayFinder.LOOK_MS, 100), lookedMs);
    remainingMs = 0;
    assertTrue(goesOnAfter(-WayFinder.ETIMEDOUT));
    assertEquals(3, lookedMs.size(), "there is no time for another look");
    assertTrue(way.isMissing());
  }

  /** The contract suite saw an address that is there called unreachable after 30 ms. */
  @Test
  void withLessTimeThanALookTakesNothingIsKnown() throws IOException {
    remainingMs = 30;
    way.look(TO);
    remainingMs = 0;
    assertTrue(goesOnAfter(-WayFinder.ETIMEDOUT));
    assertEquals(List.of(30), lookedMs);
    assertFalse(way.isMissing());
  }

  @Test
  void anAddressThatIsFoundIsNotMissing() throws IOException {
    remainingMs = 600;
    way.look(TO);
    assertTrue(goesOnAfter(-WayFinder.ETIMEDOUT));
    way.found();
    assertFalse(way.isMissing());
    assertFalse(goesOnAfter(-WayFinder.ETIMEDOUT), "nothing is looked for any more");
  }

  @Test
  void anotherFailureEndsIt() throws IOException {
    remainingMs = 600;
    way.look(TO);
    assertFalse(goesOnAfter(-NO_DEVICE));
    assertFalse(way.goesOn(CmEvents.UNREACHABLE, -WayFinder.ETIMEDOUT));
    assertEquals(1, lookedMs.size());
  }
}
