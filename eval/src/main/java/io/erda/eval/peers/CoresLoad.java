package io.erda.eval.peers;

import io.erda.eval.peers.Column.Cell;
import io.erda.eval.peers.process.KeyChoice;
import io.erda.eval.peers.process.PeerProcess;
import java.time.Duration;

/** The operations that the threads of {@link CoresExperiment} make, in the order of the report. */
enum CoresLoad {
  GETS("gets", KeyChoice.UNIFORM, 100),
  MOSTLY_GETS("95% gets", KeyChoice.UNIFORM, 95),
  HALF("half gets", KeyChoice.UNIFORM, 50),
  UPDATES("updates", KeyChoice.UNIFORM, 0),

  /** Puts of keys that are not there. */
  INSERTS("inserts", KeyChoice.UNIFORM, 0),
  ZIPFIAN_GETS("gets", KeyChoice.ZIPFIAN, 100),
  ZIPFIAN_MOSTLY_GETS("95% gets", KeyChoice.ZIPFIAN, 95),
  ZIPFIAN_HALF("half gets", KeyChoice.ZIPFIAN, 50),
  ZIPFIAN_UPDATES("updates", KeyChoice.ZIPFIAN, 0),
  HOT_HALF("half gets", KeyChoice.HOT, 50),
  HOT_UPDATES("updates", KeyChoice.HOT, 0);

  private final String title;
  private final KeyChoice keys;
  private final int getsPercent;

  CoresLoad(String title, KeyChoice keys, int getsPercent) {
    this.title = title;
    this.keys = keys;
    this.getsPercent = getsPercent;
  }

  /** The name of the operations in the report. */
  String title() {
    return title;
  }

  KeyChoice keys() {
    return keys;
  }

  /**
   * Runs one turn.
   *
   * @param cell the store; a turn inserts at most as many objects as it has
   * @return operations a second of all threads
   */
  double perSecond(PeerProcess process, int threads, Cell cell, Duration turn) {
    double ns =
        this == INSERTS
            ? process.inserts(threads, cell.objects(), turn)
            : process.threads(threads, getsPercent, keys, turn);
    return 1e9 / ns;
  }
}
