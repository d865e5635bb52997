package io.erda.simulation;

import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Opcode;

/**
 * Counts of the bytes that one device has moved. Requester and responder both count one-sided work.
 */
final class Traffic {
  private long reads;
  private long bytesRead;
  private long writes;
  private long bytesWritten;
  private long bytesDiffering;
  private long sends;
  private long receives;

  /** Counts a part of the work's bytes that was moved, and how many bytes changed in the region. */
  void moved(PostedWork work, int changed) {
    bytesDiffering += changed;
    if (!work.isMoved()) {
      return;
    }
    if (work.opcode == Opcode.READ) {
      reads++;
      bytesRead += work.length;
    } else {
      writes++;
      bytesWritten += work.length;
    }
  }

  void sent() {
    sends++;
  }

  void received() {
    receives++;
  }

  DeviceStatistics statistics() {
    return new DeviceStatistics(
        reads, bytesRead, writes, bytesWritten, bytesDiffering, sends, receives);
  }
}
