package io.erda.simulation;

import io.erda.rdma.Flags;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Posted work: its parameters, its progress, and the status that is reported to its poster. */
final class PostedWork {
  /** The progress of work on its way to take effect. */
  private enum Way {
    /** A fence holds the work, or its connection ended before it was issued. */
    HELD,
    ON_THE_WAY,
    /** The work was on the way when the connection was cut: it may still arrive. */
    CUT_OFF,
    /** The responder's NIC has the work. */
    ARRIVED,
    /** The work is a message that may be delivered: all earlier stores have landed. */
    READY,
    /** Parts of the work were lost. The other parts land, but no message follows. */
    TORN,
    /** The work has no effect any more, whatever events of it are still to come. */
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

  /** The state of the report to the poster. */
  private enum Report {
    AWAITED,
    /** The work completed. Completions are told in the order posted. */
    DONE,
    /**
     * No status of the work is reported any more: it was or will be reported as flushed, or the
     * poster is gone.
     */
    UNHEARD
  }

  final long wrId;
  final int opcode;
  final int flags;
  final long remoteKey;
  final long remoteOffset;
  final int length;

  /** The immediate data of a WRITE_IMM, for its receive. */
  final int imm;

  /** The value that a COMPARE_AND_SWAP expects. */
  final long expected;

  /** The value that an atomic operation stores. */
  final long value;

  /** The number of a message among those of its end, from 1; 0 when the work is no message. */
  long message;

  /** The region of its key; null until the work has arrived, and when it was refused. */
  SimulatedRegion region;

  private MemorySegment local;
  private long localOffset;
  private Way way = Way.HELD;
  private Report report = Report.AWAITED;
  private int status = Status.SUCCESS;

  /** Its pieces; null for work that does not move in pieces, and before the first one. */
  private Pieces pieces;

  /** Bit set of the pieces that were not lost on the way. */
  private int kept = -1;

  /**
   * Copies a work request, which the caller may change now.
   *
   * @param local the memory that it names; null when it names none
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

  /** Copies the bytes that it stores, because the poster may reuse the memory from now on. */
  void capture() {
    if (local != null && !isNonPosted()) {
      byte[] copy = new byte[length];
      MemorySegment.copy(local, ValueLayout.JAVA_BYTE, localOffset, copy, 0, length);
      local = MemorySegment.ofArray(copy);
      localOffset = 0;
    }
  }

  // The way to the responder.

  private void become(Way next) {
    assert way.leadsTo(next) : way + " does not become " + next;
    way = next;
  }

  void issue() {
    become(Way.ON_THE_WAY);
  }

  /** Notes that the connection was cut after the work was issued. */
  void cutOff() {
    assert way != Way.HELD : "what is held does not arrive after a cut";
    if (way == Way.ON_THE_WAY) {
      become(Way.CUT_OFF);
    }
  }

  /** Whether the work may still arrive although the connection was cut. */
  boolean mayArriveYet() {
    return way == Way.CUT_OFF || way == Way.TORN;
  }

  void arrive() {
    if (way != Way.TORN) {
      become(Way.ARRIVED);
    }
  }

  /** Notes that all stores before this message have landed. */
  void ready() {
    assert isMessage() : "only messages are delivered";
    if (!isDropped()) {
      become(Way.READY);
    }
  }

  boolean isReady() {
    return way == Way.READY;
  }

  /** Loses all pieces but these, given as bits. */
  void tear(int keptPieces) {
    kept = keptPieces;
    if (pieces != null) {
      pieces.keep(kept);
    }
    if (!isDropped()) {
      become(Way.TORN);
    }
  }

  /** Whether it is a message that was dropped. */
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

  // Its words.

  Pieces cut(int count, int seed) {
    assert pieces == null : "it is cut once";
    pieces = new Pieces(count, seed, kept);
    return pieces;
  }

  Pieces pieces() {
    return pieces;
  }

  /** Whether all its pieces have moved. */
  boolean isMoved() {
    return pieces == null || pieces.areNoneLeft();
  }

  boolean overlaps(PostedWork other) {
    return region == other.region
        && remoteOffset - 7 < other.remoteOffset + other.length
        && other.remoteOffset - 7 < remoteOffset + length;
  }

  // The way back to the poster.

  /** Notes that the responder refused it. */
  void refuse() {
    status = Status.REMOTE_ACCESS;
  }

  /** Notes that the responder refused the pieces that had not moved. */
  void refuseRest() {
    refuse();
    if (!isDropped()) {
      become(Way.TORN);
    }
  }

  boolean isAwaited() {
    return report == Report.AWAITED && way != Way.STOPPED;
  }

  /** Completes the work with this status, unless a part of it was refused before. */
  void complete(int status) {
    assert isAwaited() : "work completes once, and what was stopped does not";
    report = Report.DONE;
    this.status = this.status == Status.SUCCESS ? status : this.status;
  }

  boolean isDone() {
    return report == Report.DONE;
  }

  /** Ends the reports to the poster, unless the work has completed. */
  void goUnheard() {
    if (report == Report.AWAITED) {
      report = Report.UNHEARD;
    }
  }

  /**
   * Returns the status that is reported to the poster when the connection ends now, or in the order
   * posted when the work is done.
   */
  int status() {
    return isDone() ? status : Status.FLUSHED;
  }
}
