package io.erda.verbs;

import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Work;
import java.io.IOException;

/**
 * The part of a queue pair that checks posted work, and passes it to {@link Outgoing} and {@link
 * Receives}.
 */
abstract class PostingQueuePair implements QueuePair {
  final VerbsDevice device;
  final Accounts accounts = new Accounts();
  final Outgoing outgoing = new Outgoing(this, accounts);
  final Receives receives = new Receives();

  PostingQueuePair(VerbsDevice device) {
    this.device = device;
  }

  /**
   * Whether {@code count} pieces of work can be posted now.
   *
   * @throws IllegalStateException when the queue pair is closed
   */
  abstract boolean mayPost(int count);

  /** Throws when the queue pair is closed. */
  abstract void requireOpen();

  /** Whether new work can be sent. */
  abstract boolean isConnected();

  /** Whether work that was posted before can be sent. */
  abstract boolean mayStart();

  /** Ends the connection because a call of this end failed. */
  abstract void failed(IOException why);

  @Override
  public boolean post(Work work) {
    assert work.isWellFormed() : work;
    if (work.opcode == Opcode.SEND && work.length > MessageQueue.MESSAGE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a message of " + work.length + " bytes; at most " + MessageQueue.MESSAGE_BYTES_MAX);
    }
    VerbsRegion local =
        work.hasLocal() ? VerbsRegion.of(work.local, device, work.localOffset, work.length) : null;
    // A WRITE with immediate data is posted as a WRITE and a message.
    if (!mayPost(work.opcode == Opcode.WRITE_IMM ? 2 : 1)
        || work.isMessage() && !outgoing.maySend()) {
      return false;
    }
    outgoing.post(work, local);
    return true;
  }

  @Override
  public boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length) {
    VerbsRegion region = VerbsRegion.of(local, device, localOffset, length);
    requireOpen();
    return receives.add(wrId, region, localOffset, length);
  }
}
