package io.erda.server;

import io.erda.protocol.ErdaException;
import io.erda.server.engine.StoreInspection;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Checks a store that nobody serves. */
public final class StoreVerifier {
  /**
   * Opens the store in {@code data}, which recovers it as a starting server would, and looks at
   * every entry and object.
   *
   * @throws ErdaException.Unusable when it is in use, foreign, or of another version
   * @throws ErdaException.Damaged when its structures can't be opened at all
   */
  public static VerifyReport verify(Path data) {
    try (OpenedStore store = OpenedStore.open(data, ServerOptions.DEFAULTS, false, () -> {})) {
      List<VerifyReport.Finding> findings = new ArrayList<>();
      StoreInspection inspection =
          new StoreInspection(
              store.engine(), (key, what) -> findings.add(new VerifyReport.Finding(key, what)));
      inspection.run();
      return new VerifyReport(
          inspection.entries(),
          inspection.values(),
          inspection.tombstones(),
          findings,
          store.engine().recovery().notes());
    }
  }

  private StoreVerifier() {}
}
