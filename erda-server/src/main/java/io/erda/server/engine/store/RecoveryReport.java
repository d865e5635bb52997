package io.erda.server.engine.store;

import java.util.List;

/**
 * The findings and actions of a recovery.
 *
 * @param bytesScanned bytes between the water marks
 * @param objectsSeen whole objects between the water marks
 * @param committed pending versions that were whole and were committed
 * @param cleaning whether a cleaning was under way, with space set aside for its copies
 * @param resizing whether the table was being doubled or halved
 * @param notes one line for each thing that was dropped or finished
 */
public record RecoveryReport(
    long bytesScanned,
    int objectsSeen,
    int committed,
    boolean cleaning,
    boolean resizing,
    List<String> notes) {}
