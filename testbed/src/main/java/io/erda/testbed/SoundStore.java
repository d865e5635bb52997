package io.erda.testbed;

import io.erda.protocol.ErdaException;
import io.erda.server.ErdaServer;
import io.erda.server.ErdaStore;
import io.erda.server.Listening;
import io.erda.server.ServerOptions;
import io.erda.server.StoreVerifier;
import io.erda.server.VerifyReport;
import java.nio.file.Path;
import java.util.List;

/** Opens stores in this process, whose system calls do not fail. */
final class SoundStore {
  /** Small, so that a short load fills regions, and causes cleanings and doublings. */
  static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(64 << 10)
          .withSegmentBytes(8 << 10)
          .withCapacityBytes(1 << 20)
          .withBuckets(64);

  private SoundStore() {}

  /** Serves a store over shm and TCP. */
  static ErdaServer serve(Path data) {
    return ErdaServer.start(data, OPTIONS.withListening(List.of(Listening.tcp("127.0.0.1:0"))));
  }

  /**
   * Requires that a store opened anew has all acknowledged values, and that verify finds it sound.
   */
  static void require(Path data, FailingPuts puts, ConfigurationResult outcome) {
    try (ErdaStore store = ErdaStore.open(data, OPTIONS)) {
      puts.check(store::client);
    } catch (ErdaException e) {
      outcome.complain("the store does not open afterwards: " + e.getMessage());
      return;
    }
    try {
      VerifyReport report = StoreVerifier.verify(data);
      if (report.findingsCount() > 0) {
        outcome.complain("verify afterwards: " + report.findings());
      }
    } catch (ErdaException e) {
      outcome.complain("verify afterwards: " + e.getMessage());
    }
  }
}
