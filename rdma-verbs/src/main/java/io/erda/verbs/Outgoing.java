package io.erda.verbs;

import com.ibm.disni.verbs.IbvWC;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Flags;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * What was posted to a connection: how it gets to hardware, in order, and how it ended. A message
 * is sent when all before it that changes the peer's memory has completed there.
 */
final class Outgoing {
  private final PostingQueuePair connection;
  private final Accounts accounts;
  private final Works works = new Works();
  private MessageQueue messages;
  private DataQueue data;

  /** The next work that may have to be started; the last one that changes the peer's memory. */
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

  // Posting. Callers have made sure that there is room, and of messages that one may be sent.

  void read(long wrId, VerbsRegion to, long offset, long key, long remote, int length, int flags) {
    accounts.moved.reads++;
    accounts.moved.bytesRead += length;
    long work = works.add(wrId, Opcode.READ, flags, -1, false, length);
    oneSided(work, to, offset, key, remote, length);
  }

  void write(
      long wrId, VerbsRegion from, long offset, long key, long remote, int length, int flags) {
    write(wrId, Opcode.WRITE, from, offset, key, remote, length, flags);
  }

  private void write(
      long wrId,
      int opcode,
      VerbsRegion from,
      long offset,
      long key,
      long remote,
      int length,
      int flags) {
    accounts.moved.writes++;
    accounts.moved.bytesWritten += length;
    long work = works.add(wrId, opcode, flags, -1, true, length);
    oneSided(work, from, offset, key, remote, length);
  }

  /** A WRITE of which only a failure is reported, and a message that tells of it. */
  void writeImm(
      long wrId,
      VerbsRegion from,
      long offset,
      long key,
      long remote,
      int length,
      int imm,
      int flags) {
    if (!connection.isConnected()) {
      flushed(wrId, Opcode.WRITE_IMM, flags, length);
      return;
    }
    write(wrId, Opcode.WRITE_IMM, from, offset, key, remote, length, flags & ~Flags.SIGNALED);
    if (!connection.isConnected()) {
      return;
    }
    int slot = message(Header.WRITTEN, length, imm);
    works.follow(works.add(wrId, Opcode.WRITE_IMM, flags, slot, false, length));
    start();
  }

  void send(long wrId, VerbsRegion from, long offset, int length, int flags) {
    if (!connection.isConnected()) {
      flushed(wrId, Opcode.SEND, flags, length);
      return;
    }
    int slot = message(Header.MESSAGE, length, 0);
    MemorySegment.copy(
        from.memory(), offset, messages.memory(), MessageQueue.sentAt(slot) + Header.BYTES, length);
    works.add(wrId, Opcode.SEND, flags, slot, false, length);
    start();
  }

  private int message(int kind, int length, int imm) {
    int slot = messages.take();
    Header.set(messages.memory(), MessageQueue.sentAt(slot), kind, length, imm, 0);
    accounts.sent++;
    return slot;
  }

  /** Whether a message could be sent now; always where it would only be flushed. */
  boolean maySend() {
    return !connection.isConnected() || messages.hasSlot() && accounts.hasCredit();
  }

  void unsupported(long wrId, int opcode, int flags, int length) {
    long work = works.add(wrId, opcode, flags, -1, false, length);
    works.end(work, connection.isConnected() ? Status.UNSUPPORTED : Status.FLUSHED);
  }

  private void flushed(long wrId, int opcode, int flags, int length) {
    works.end(works.add(wrId, opcode, flags, -1, false, length), Status.FLUSHED);
  }

  /** Changes nothing that is READ; a message says more when it has been done, and waits too. */
  void flush(long wrId, long key, long remote, int length, int flags) {
    long work = works.add(wrId, Opcode.FLUSH, flags, -1, true, length);
    if (length < 0 && connection.isConnected()) {
      works.end(work, Status.REMOTE_ACCESS);
      return;
    }
    works.value[Works.at(work)] = VerbsRegion.flushType(key);
    oneSided(work, null, 0, key, remote, length);
  }

  void atomicWrite(long wrId, long key, long remote, long value, int flags) {
    long work = works.add(wrId, Opcode.ATOMIC_WRITE, flags, -1, true, 8);
    works.value[Works.at(work)] = value;
    accounts.moved.writes++;
    accounts.moved.bytesWritten += 8;
    word(work, null, 0, key, remote);
  }

  void compareAndSwap(
      long wrId,
      VerbsRegion to,
      long offset,
      long key,
      long remote,
      long expected,
      long value,
      int flags) {
    long work = works.add(wrId, Opcode.COMPARE_AND_SWAP, flags, -1, true, 8);
    works.expected[Works.at(work)] = expected;
    works.value[Works.at(work)] = value;
    word(work, to, offset, key, remote);
  }

  private void word(long work, VerbsRegion region, long offset, long key, long remote) {
    if ((VerbsRegion.remoteAddress(key, remote, 8) & 7) != 0) {
      works.end(work, connection.isConnected() ? Status.REMOTE_ACCESS : Status.FLUSHED);
    } else {
      oneSided(work, region, offset, key, remote, 8);
    }
  }

  private void oneSided(
      long work, VerbsRegion region, long offset, long key, long remote, int length) {
    long address = VerbsRegion.remoteAddress(key, remote, length);
    if (!connection.isConnected()) {
      works.end(work, Status.FLUSHED);
    } else if (address < 0) {
      works.end(work, Status.REMOTE_ACCESS);
    } else if (length == 0) {
      works.end(work, Status.SUCCESS);
    } else {
      int at = Works.at(work);
      works.remoteAddress[at] = address;
      works.rkey[at] = VerbsRegion.rkey(key);
      if (region != null) {
        works.localAddress[at] = region.iova + offset;
        works.lkey[at] = region.lkey;
      }
      start();
    }
  }

  /** Starts what may be started, in order. */
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

  /** A message was sent, or a work of hardware's failed. */
  void sent(int slot, boolean success) {
    long work = messages.sent(slot);
    if (success && work >= 0) {
      works.end(work, Status.SUCCESS);
    }
  }

  /** A READ, WRITE or atomic has completed. Returns false when nobody answered. */
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
   * When the queue pair for READs and WRITEs broke, and all that it had has completed: makes it
   * anew, tells the peer, and starts again what was flushed.
   */
  void repair() throws IOException {
    if (data != null && data.isBroken() && data.outstanding() == 0) {
      data.renew();
      messages.say(Header.RESYNC, data.greeting());
      next = works.head();
      works.startAgain(next);
    }
  }

  /** The peer made its queue pair anew: so does this end, and what it had outstanding is over. */
  void resync(long greeting) throws IOException {
    works.endData();
    data.renew();
    data.ready(greeting);
    messages.say(Header.RESYNCED, data.greeting());
  }

  /** Ends all that is pending: the connection is over. */
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
