package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A process that has nearly as many mappings as the kernel allows. */
final class MappingLimitTest {
  private final AtomicLong mappings = new AtomicLong();
  private final MappingLimit limit = new MappingLimit(4000, mappings::get);

  @Test
  void whatIsLeftIsForTheJvm() throws UnmappedException {
    limit.require("region-0-1");
    mappings.set(3001);
    for (int i = 1; i < MappingLimit.STRIDE; i++) {
      limit.require("region-0-1");
    }
    UnmappedException refused =
        assertThrows(UnmappedException.class, () -> limit.require("region-0-2"));
    assertEquals(
        "region-0-2 can't be mapped: this process has three quarters of the 4000 mappings that the"
            + " kernel allows it (vm.max_map_count)",
        refused.getMessage());
    assertThrows(UnmappedException.class, () -> limit.require("region-0-3"));
  }

  @Test
  void afterClientsHaveClosedThereIsRoomAtOnce() throws UnmappedException {
    mappings.set(3001);
    assertThrows(UnmappedException.class, () -> limit.require("region-0-1"));
    mappings.set(3000);
    limit.require("region-0-1");
  }

  /** The kernel gives such a file only to the first read of it. */
  @Test
  void theKernelsNumberIsReadWhole() {
    Path file = Path.of("/proc/sys/vm/max_map_count");
    assumeTrue(Files.exists(file));
    long allowed = MappingLimit.allowed(file);
    assertTrue(allowed > 100 && allowed < Long.MAX_VALUE, () -> "allowed: " + allowed);
    assertEquals(Long.MAX_VALUE, MappingLimit.allowed(Path.of("/proc/no/such/file")));
  }

  @Test
  void theLimitOfThisProcessIsFarAway() throws UnmappedException {
    for (int i = 0; i <= MappingLimit.STRIDE; i++) {
      MappingLimit.OF_PROCESS.require("region-0-1");
    }
  }
}
