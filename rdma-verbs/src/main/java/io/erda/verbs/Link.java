package io.erda.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCReqNotify;
import io.erda.verbs.ffm.ConnectParameters;
import io.erda.verbs.ffm.FfmVerbs;
import java.io.IOException;

/**
 * The hardware objects of one connection: its ID at the connection manager, a completion queue, and
 * both queue pairs. Owns them, and borrows its buffer from the device.
 */
final class Link {
  private static final int CQ_ENTRIES = 2 * MessageQueue.SLOTS + DataQueue.REQUESTS + 64;
  private static final int BATCH = 32;
  private static final int READS_AT_ONCE = 16;
  private static final int RETRIES = 7;

  private final VerbsDevice device;
  final RdmaCmId id;
  private final IbvCQ cq;
  private final IbvWC[] completions = new IbvWC[BATCH];
  private final SVCPollCq pollCall;
  private final SVCReqNotify notifyCall;
  final MessageQueue messages;
  private DataQueue data;

  /**
   * Makes the objects. After an error the objects that were made before are destroyed.
   *
   * @throws IOException when the hardware or the kernel refuses an object; the message names it
   */
  Link(VerbsDevice device, RdmaCmId id, Accounts accounts) throws IOException {
    this.device = device;
    this.id = id;
    FfmVerbs verbs = device.verbs();
    Hca hca = device.hca();
    VerbsRegion buffer = device.buffers().take();
    IbvCQ made = null;
    try {
      made = verbs.createCQ(hca.context(), hca.channel(), CQ_ENTRIES, 0);
      for (int i = 0; i < BATCH; i++) {
        completions[i] = new IbvWC();
      }
      pollCall = verbs.pollCQ(made, completions, BATCH);
      notifyCall = verbs.reqNotifyCQ(made, false);
      messages = new MessageQueue(id, hca, made, buffer, accounts);
      cq = made;
    } catch (IOException | RuntimeException | Error e) {
      try {
        id.destroyQP();
        if (made != null) {
          verbs.destroyCQ(made);
        }
        device.buffers().give(buffer);
      } catch (IOException more) {
        e.addSuppressed(more);
      }
      throw e;
    }
  }

  /** Makes the queue pair for READs and WRITEs, after the route to the peer is known. */
  DataQueue openData() throws IOException {
    data = new DataQueue(device.verbs(), id, device.hca(), cq, device.nextPsn());
    return data;
  }

  static RdmaConnParam parameters() {
    return new ConnectParameters(READS_AT_ONCE, RETRIES, RETRIES);
  }

  /** Takes up to a batch of completions; {@link #completion} has them. */
  int poll() throws IOException {
    return pollCall.execute().getPolls();
  }

  IbvWC completion(int index) {
    return completions[index];
  }

  boolean isFull(int polled) {
    return polled == BATCH;
  }

  void arm() throws IOException {
    notifyCall.execute();
  }

  /** Ends the connection, and gives back everything except the ID. */
  void close() throws IOException {
    try {
      id.disconnect();
    } catch (IOException e) {
      // The connection was never made, or the peer has left.
    }
    id.destroyQP();
    if (data != null) {
      data.destroy();
    }
    device.verbs().destroyCQ(cq);
    device.buffers().give(messages.buffer);
  }
}
