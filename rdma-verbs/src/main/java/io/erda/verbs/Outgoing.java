package io.erda.verbs;

import com.ibm.disni.verbs.IbvWC;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Flags;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * The posted work of a connection. It passes the work to the hardware in order, and notes the
 * results. A message is sent when all earlier work that changes the peer's memory has completed
 * there.
 */
final class Outgoing {
  private final PostingQueuePair connection;
  private final Accounts accounts;
  private final Works works = new Works();
  private MessageQueue messages;
  private DataQueue data;

  /** The next work that may have to be started, and the last one that changes the peer's memory. */
  private long next;

  private long lastChange = -1;

  Outgoing(PostingQueuePair connection, Accounts accounts) {
    this.connection = connection;
    this.accounts = accounts;
  }

  void over(MessageQueue queue) {
    messages = queue;
  }

  void over(DataQueue queue) {
    data = queue;
  }

  boolean hasRoom(int count) {
    return works.hasRoom(count);
  }

  // Posting. REQUIRES: there is room, and a message may be sent.

  /**
   * @param local the work's local memory; null where it uses none
   */
  void post(Work posted, VerbsRegion local) {
    switch (posted.opcode) {
      case Opcode.READ -> {
        accounts.moved.reads++;
        accounts.moved.bytesRead += posted.length;
        oneSided(works.add(posted, posted.flags, -1, false), posted, local);
      }
      case Opcode.WRITE -> write(posted, posted.flags, local);
      case Opcode.WRITE_IMM -> writeImm(posted, local);
      case Opcode.SEND -> send(posted, local);
      case Opcode.FLUSH -> flush(posted);
      case Opcode.ATOMIC_WRITE -> {
        accounts.moved.writes++;
        accounts.moved.bytesWritten += 8;
        word(posted, null);
      }
      case Opcode.COMPARE_AND_SWAP -> word(posted, local);
      default -> throw new IllegalArgumentException(posted.toString());
    }
  }

  private void write(Work posted, int flags, VerbsRegion from) {
    accounts.moved.writes++;
    accounts.moved.bytesWritten += posted.length;
    oneSided(works.add(posted, flags, -1, true), posted, from);
  }

  /** Posts a WRITE that reports only a failure, and a message about the WRITE. */
  private void writeImm(Work posted, VerbsRegion from) {
    if (!connection.isConnected()) {
      end(posted, Status.FLUSHED);
      return;
    }
    write(posted, posted.flags & ~Flags.SIGNALED, from);
    if (!connection.isConnected()) {
      return;
    }
    int slot = message(Header.WRITTEN, posted.length, posted.imm);
    works.follow(works.add(posted, posted.flags, slot, false));
    start();
  }

  private void send(Work posted, VerbsRegion from) {
    if (!connection.isConnected()) {
      end(posted, Status.FLUSHED);
      return;
    }
    int slot = message(Header.MESSAGE, posted.length, 0);
    long to = MessageQueue.sentAt(slot) + Header.BYTES;
    MemorySegment.copy(from.memory(), posted.localOffset, messages.memory(), to, posted.length);
    works.add(posted, posted.flags, slot, false);
    start();
  }

  private int message(int kind, int length, int imm) {
    int slot = messages.take();
    Header.set(messages.memory(), MessageQueue.sentAt(slot), kind, length, imm, 0);
    accounts.sent++;
    return slot;
  }

  /** Whether a message can be posted now; true also when it would only be flushed. */
  boolean maySend() {
    return !connection.isConnected() || messages.hasSlot() && accounts.hasCredit();
  }

  /** Ends work as soon as it is posted. */
  private void end(Work posted, int status) {
    works.end(works.add(posted, posted.flags, -1, false), status);
  }

  /** A FLUSH changes no bytes, but a message waits for it as for a WRITE. */
  private void flush(Work posted) {
    if (!connection.device.flushes()) {
      end(posted, connection.isConnected() ? Status.UNSUPPORTED : Status.FLUSHED);
      return;
    }
    long work = works.add(posted, posted.flags, -1, true);
    if (posted.length < 0 && connection.isConnected()) {
      works.end(work, Status.REMOTE_ACCESS);
      return;
    }
    works.value[Works.at(work)] = VerbsRegion.flushType(posted.remoteKey);
    oneSided(work, posted, null);
  }

  private void word(Work posted, VerbsRegion local) {
    long work = works.add(posted, posted.flags, -1, true);
    works.expected[Works.at(work)] = posted.expected;
    works.value[Works.at(work)] = posted.value;
    if ((VerbsRegion.remoteAddress(posted.remoteKey, posted.remoteOffset, 8) & 7) != 0) {
      works.end(work, connection.isConnected() ? Status.REMOTE_ACCESS : Status.FLUSHED);
    } else {
      oneSided(work, posted, local);
    }
  }

  private void oneSided(long work, Work posted, VerbsRegion local) {
    long address = VerbsRegion.remoteAddress(posted.remoteKey, posted.remoteOffset, posted.length);
    if (!connection.isConnected()) {
      works.end(work, Status.FLUSHED);
    } else if (address < 0) {
      works.end(work, Status.REMOTE_ACCESS);
    } else if (posted.length == 0) {
      works.end(work, Status.SUCCESS);
    } else {
      int at = Works.at(work);
      works.remoteAddress[at] = address;
      works.rkey[at] = VerbsRegion.rkey(posted.remoteKey);
      if (local != null) {
        works.localAddress[at] = local.iova + posted.localOffset;
        works.lkey[at] = local.lkey;
      }
      start();
    }
  }

  /** Starts work that may be started, in order. */
  void start() {
    if (!connection.mayStart()) {
      return;
    }
    try {
      for (; next < works.tail(); next++) {
        if (!works.isPending(next) || works.isStarted(next)) {
          continue;
        }
        if (works.slot(next) >= 0 ? !startMessage(next) : !startData(next)) {
          return;
        }
      }
    } catch (IOException e) {
      connection.failed(e);
    }
  }

  private boolean startData(long work) throws IOException {
    if (!data.isReady()) {
      return false;
    }
    long word = MessageQueue.wordAt(work);
    if (works.opcode(work) == Opcode.ATOMIC_WRITE) {
      messages.memory().set(Hardware.LONG, word, works.value[Works.at(work)]);
    }
    works.start(work);
    if (works.changes(work)) {
      lastChange = work;
    }
    data.post(works, work, messages.buffer.iova + word, messages.buffer.lkey);
    return true;
  }

  private boolean startMessage(long work) throws IOException {
    int slot = works.slot(work);
    if (works.isPending(lastChange)) {
      return false;
    }
    if (works.isFollowing(work) && works.failed(work - 1)) {
      works.end(work, Works.UNTOLD);
      messages.give(slot);
      accounts.sent--;
      return true;
    }
    works.start(work);
    messages.send(slot, work);
    return true;
  }

  // Completions.

  /** Notes that the hardware has sent a message, or failed to send it. */
  void sent(int slot, boolean success) {
    long work = messages.sent(slot);
    if (success && work >= 0) {
      works.end(work, Status.SUCCESS);
    }
  }

  /**
   * Takes the completion of a READ, WRITE or atomic operation. Returns false when the peer's device
   * did not answer.
   */
  boolean completed(IbvWC completion) {
    if (!data.isCurrent(completion.getWr_id())) {
      return true;
    }
    long work = Tags.number(completion.getWr_id());
    int status = completion.getStatus();
    data.completed();
    if (status == Hardware.SUCCESS) {
      if (Tags.isLast(completion.getWr_id())) {
        works.end(work, Status.SUCCESS);
      }
      return true;
    }
    if (Hardware.isUnanswered(status)) {
      return false;
    }
    data.broke();
    if (status != Hardware.FLUSHED) {
      works.end(work, Hardware.isRemote(status) ? Status.REMOTE_ACCESS : Status.LOCAL);
    }
    return true;
  }

  /**
   * Repairs the queue pair for READs and WRITEs after an error, when all its requests have
   * completed: resets it, tells the peer, and starts the flushed work again.
   */
  void repair() throws IOException {
    if (data != null && data.isBroken() && data.outstanding() == 0) {
      data.renew();
      messages.say(Header.RESYNC, data.greeting());
      next = works.head();
      works.startAgain(next);
    }
  }

  /**
   * Handles that the peer has reset its queue pair. This end resets its queue pair, too, and its
   * outstanding work ends.
   */
  void resync(long greeting) throws IOException {
    works.endData();
    data.renew();
    data.ready(greeting);
    messages.say(Header.RESYNCED, data.greeting());
  }

  /** Ends all pending work, because the connection has ended. */
  void endAll() {
    works.endAll(Status.FLUSHED);
  }

  boolean hasReport() {
    return works.hasReport();
  }

  void report(CompletionHandler handler) {
    works.report(handler);
  }
}
