package io.erda.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.verbs.ffm.Offered;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Tests which memory peers may FLUSH, by device. */
class RegionsTest {
  private static final Offered ALL = new Offered(true, true, true);
  private static final Offered NOT_PERSISTENT = new Offered(true, false, true);

  /** Memory that says of itself what is asked for. */
  private static PersistentMemory memory(Survives survives, boolean waits) throws IOException {
    return new ForwardingMemory(new HeapDirectory(4096, survives).create("memory", 64)) {
      @Override
      public boolean drainWaitsForDevice() {
        return waits;
      }
    };
  }

  @Test
  void memoryOfThePageCacheIsMadeVisible() throws IOException {
    PersistentMemory pages = memory(Survives.PROCESS_CRASH, false);
    assertEquals(Offered.ACCESS_FLUSH_GLOBAL, Regions.flushAccess(ALL, pages));
    assertEquals(Offered.ACCESS_FLUSH_GLOBAL, Regions.flushAccess(NOT_PERSISTENT, pages));
    assertEquals(0, Regions.flushAccess(Offered.NOTHING, pages));
  }

  @Test
  void persistentMemoryIsMadePersistentOrNotFlushed() throws IOException {
    PersistentMemory dax = memory(Survives.POWER_FAILURE, false);
    assertEquals(
        Offered.ACCESS_FLUSH_GLOBAL | Offered.ACCESS_FLUSH_PERSISTENT,
        Regions.flushAccess(ALL, dax));
    assertEquals(0, Regions.flushAccess(NOT_PERSISTENT, dax));
  }

  /** A FLUSH would promise what only a system call of the responder's does. */
  @Test
  void filesThatAreSynchronisedAreNotFlushed() throws IOException {
    assertEquals(0, Regions.flushAccess(ALL, memory(Survives.POWER_FAILURE, true)));
  }
}
