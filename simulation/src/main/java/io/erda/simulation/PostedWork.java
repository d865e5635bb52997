package io.erda.simulation;

import io.erda.rdma.Flags;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Posted work: what it asks for, how far it is on its way, and what its poster hears of it. */
final class PostedWork {
  /** How far work is on its way to take effect. */
  private enum Way {
    /** A fence holds it, or its connection ended before it was issued. */
    HELD,
    ON_THE_WAY,
    /** It was on the way when the connection was cut: it may arrive yet. */
    CUT_OFF,
    /** The responder's NIC has it. */
    ARRIVED,
    /** A message that may be delivered: what came before it has landed. */
    READY,
    /** Parts of it were lost: the others land, but no message follows. */
    TORN,
    /** It takes no effect any more, whatever events of it are still to come. */
    STOPPED;

    boolean leadsTo(Way next) {
      return switch (this) {
        case HELD -> next == ON_THE_WAY || next == STOPPED;
        case ON_THE_WAY -> next == CUT_OFF || next == ARRIVED || next == STOPPED;
        case CUT_OFF -> next == ARRIVED || next == TORN || next == STOPPED;
        case ARRIVED -> next == READY || next == TORN || next == STOPPED;
        case READY -> next == TORN || next == STOPPED;
        case TORN -> next == STOPPED;
        case STOPPED -> false;
      };
    }
  }

  /** The status that its poster is told. */
  private enum Report {
    AWAITED,
    /** It completed. The completion is told in the order posted. */
    DONE,
    /** Nothing comes back: it was reported as flushed, or will be, or nobody is left to hear. */
    UNHEARD
  }

  final long wrId;
  final int opcode;
  final int flags;
  final long remoteKey;
  final long remoteOffset;
  final int length;

  /** What the receive of a WRITE_IMM sees. */
  final int imm;

  /** What a COMPARE_AND_SWAP compares with. */
  final long expected;

  /** What an atomic operation stores. */
  final long value;

  /** The number of a message among those of its end, from 1; 0 for what is none. */
  long message;

  /** What it reaches with its key; null until it has arrived, and where it was refused. */
  SimulatedRegion region;

  private MemorySegment local;
  private long localOffset;
  private Way way = Way.HELD;
  private Report report = Report.AWAITED;
  private int status = Status.SUCCESS;

  /** What its words move in; null for what does not move in pieces, and before it begins to. */
  private Pieces pieces;

  /** Which pieces were not lost on the way, as bits. */
  private int kept = -1;

  /**
   * Keeps what was asked for: the caller may change the work request now.
   *
   * @param local the memory that it names; null where the work has none
   */
  PostedWork(Work asked, MemorySegment local) {
    this.wrId = asked.wrId;
    this.opcode = asked.opcode;
    this.flags = asked.flags;
    this.local = local;
    this.localOffset = asked.localOffset;
    this.remoteKey = asked.remoteKey;
    this.remoteOffset = asked.remoteOffset;
    this.length = asked.length;
    this.imm = asked.imm;
    this.expected = asked.expected;
    this.value = asked.value;
  }

  boolean isSignaled() {
    return (flags & Flags.SIGNALED) != 0;
  }

  boolean isFenced() {
    return (flags & Flags.FENCE) != 0;
  }

  boolean isStore() {
    return opcode == Opcode.WRITE || opcode == Opcode.WRITE_IMM;
  }

  boolean isMessage() {
    return opcode == Opcode.SEND || opcode == Opcode.WRITE_IMM;
  }

  boolean isAtomic() {
    return opcode == Opcode.ATOMIC_WRITE || opcode == Opcode.COMPARE_AND_SWAP;
  }

  boolean isNonPosted() {
    return !isStore() && opcode != Opcode.SEND;
  }

  MemorySegment local() {
    return local;
  }

  long localOffset() {
    return localOffset;
  }

  /** The memory it stores from may be reused from now on: it keeps what that held. */
  void capture() {
    if (local != null && !isNonPosted()) {
      byte[] copy = new byte[length];
      MemorySegment.copy(local, ValueLayout.JAVA_BYTE, localOffset, copy, 0, length);
      local = MemorySegment.ofArray(copy);
      localOffset = 0;
    }
  }

  // The way there

  private void become(Way next) {
    assert way.leadsTo(next) : way + " does not become " + next;
    way = next;
  }

  void issue() {
    become(Way.ON_THE_WAY);
  }

  /** The connection is cut while it is issued. */
  void cutOff() {
    assert way != Way.HELD : "what is held does not arrive after a cut";
    if (way == Way.ON_THE_WAY) {
      become(Way.CUT_OFF);
    }
  }

  /** Whether it may arrive though the connection was cut. */
  boolean mayArriveYet() {
    return way == Way.CUT_OFF || way == Way.TORN;
  }

  void arrive() {
    if (way != Way.TORN) {
      become(Way.ARRIVED);
    }
  }

  /** What came before this message has landed. */
  void ready() {
    assert isMessage() : "only messages are delivered";
    if (!isDropped()) {
      become(Way.READY);
    }
  }

  boolean isReady() {
    return way == Way.READY;
  }

  /** Only these of its pieces arrive, as bits. */
  void tear(int keptPieces) {
    kept = keptPieces;
    if (pieces != null) {
      pieces.keep(kept);
    }
    if (!isDropped()) {
      become(Way.TORN);
    }
  }

  /** Whether it is a message no more. */
  boolean isDropped() {
    return way == Way.TORN || way == Way.STOPPED;
  }

  void stop() {
    if (way != Way.STOPPED) {
      become(Way.STOPPED);
    }
  }

  boolean isStopped() {
    return way == Way.STOPPED;
  }

  // Its words

  Pieces cut(int count, int seed) {
    assert pieces == null : "it is cut once";
    pieces = new Pieces(count, seed, kept);
    return pieces;
  }

  Pieces pieces() {
    return pieces;
  }

  /** Whether nothing of it is still to move. */
  boolean isMoved() {
    return pieces == null || pieces.areNoneLeft();
  }

  boolean overlaps(PostedWork other) {
    return region == other.region
        && remoteOffset - 7 < other.remoteOffset + other.length
        && other.remoteOffset - 7 < remoteOffset + length;
  }

  // The way back

  /** The responder refused it. */
  void refuse() {
    status = Status.REMOTE_ACCESS;
  }

  /** The responder refused what of it had not moved. */
  void refuseRest() {
    refuse();
    if (!isDropped()) {
      become(Way.TORN);
    }
  }

  boolean isAwaited() {
    return report == Report.AWAITED && way != Way.STOPPED;
  }

  /** It completes, with this status where nothing of it was refused before. */
  void complete(int status) {
    assert isAwaited() : "work completes once, and what was stopped does not";
    report = Report.DONE;
    this.status = this.status == Status.SUCCESS ? status : this.status;
  }

  boolean isDone() {
    return report == Report.DONE;
  }

  /** Its poster hears nothing more of it, unless it completed before. */
  void goUnheard() {
    if (report == Report.AWAITED) {
      report = Report.UNHEARD;
    }
  }

  /** What its poster is told when the connection ends now, or in the order posted when done. */
  int status() {
    return isDone() ? status : Status.FLUSHED;
  }
}
