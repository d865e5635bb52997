package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.Survives;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/** A store with something to clean is opened, and cleaned on request. */
final class AskedCleaning {
  private AskedCleaning() {}

  /**
   * Returns when all is cleaned that could be.
   *
   * @param disk what the store finds instead of its directory
   * @param step does one step of the server's work
   */
  static void run(
      Survives survives,
      UnaryOperator<MemoryDirectory> disk,
      LongSupplier now,
      Consumer<ServerCore> step) {
    HeapDirectory filled = new HeapDirectory(1 << 23, survives);
    CleaningCrashTest.fill(filled);
    StoreEngine engine =
        StoreOpening.open(disk.apply(filled.anotherView()), CleaningCrashTest.SMALL, new Random(7));
    ServiceOptions service =
        new ServiceOptions(8, 1 << 20, 1 << 13, 0, new CleanerOptions(2, 0, 0, 0, 0));
    try (ServerCore core = new ServerCore(engine, service, now)) {
      core.cleaner().ask(-1);
      for (int i = 0; core.cleaner().asked() || core.hasMore(); i++) {
        assertTrue(i < 1_000_000, "cleaning does not end");
        step.accept(core);
      }
      assertTrue(core.cleaner().cleanings() > 0, "nothing was cleaned");
    }
  }
}
