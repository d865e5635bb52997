package io.erda.rdma;

/**
 * A work request for {@link QueuePair#post}. The owner makes one object for each purpose, posts it,
 * changes some fields and posts it again; this allocates nothing. A device keeps no reference after
 * the post returns, so the owner may change any field then. One thread.
 *
 * <p>An opcode uses the following fields; a device ignores all others:
 *
 * <table>
 * <caption>fields by opcode</caption>
 * <tr><th>opcode<th>local memory<th>remote range<th>further
 * <tr><td>READ<td>destination<td>source<td>
 * <tr><td>WRITE<td>source<td>destination<td>
 * <tr><td>WRITE_IMM<td>source<td>destination<td>{@link #imm}
 * <tr><td>SEND<td>source<td>none<td>
 * <tr><td>FLUSH<td>none<td>the bytes to flush<td>
 * <tr><td>ATOMIC_WRITE<td>none<td>one word<td>{@link #value}
 * <tr><td>COMPARE_AND_SWAP<td>gets the old word<td>one word<td>{@link #expected}, {@link #value}
 * </table>
 *
 * <p><b>Invariants</b>, which devices assert: the opcode is one of these; {@link #flags} are of
 * {@link Flags}; where the opcode uses local memory there is a region; the length of an atomic
 * operation is 8. An error of the caller with its local memory is an exception of the post. Errors
 * that only the peer can detect are reported by the status of the completion: an unknown key, a
 * range outside the region, and a word of an atomic operation that is not 8-aligned there.
 *
 * <p>A receive is no work request here, though it is one in verbs: it names only a local buffer,
 * waits in a separate queue until a message comes, and receives complete in the order of the
 * messages.
 */
public final class Work {
  /** One of the opcodes of {@link Opcode} in the table above. */
  public int opcode;

  /** The ID in the completion. */
  public long wrId;

  /** Flags of {@link Flags}. */
  public int flags;

  /** A region of the device whose queue pair it is posted to. */
  public MemoryRegion local;

  /** Where the bytes begin in the local region. */
  public long localOffset;

  /** The number of bytes at both ends. */
  public int length;

  /** The peer's region: its {@link MemoryRegion#remoteKey}, or a key of {@link QueuePair#grant}. */
  public long remoteKey;

  /** Where the bytes begin in the peer's region. */
  public long remoteOffset;

  /** The immediate data of a WRITE_IMM. */
  public int imm;

  /** The word that a COMPARE_AND_SWAP expects. */
  public long expected;

  /** The word that an atomic operation stores. */
  public long value;

  private Work(int opcode, int length) {
    this.opcode = opcode;
    this.length = length;
  }

  /** READs bytes of the peer's region into local memory. */
  public static Work read() {
    return new Work(Opcode.READ, 0);
  }

  /** WRITEs local memory into the peer's region. */
  public static Work write() {
    return new Work(Opcode.WRITE, 0);
  }

  /**
   * WRITEs, then consumes a receive of the peer's, which sees {@link #imm}. A peer that does not
   * expect this ends the connection, because a receive was consumed without a message.
   */
  public static Work writeImm() {
    return new Work(Opcode.WRITE_IMM, 0);
  }

  /** SENDs local memory into a receive of the peer's; at most {@link Device#messageBytesMax()}. */
  public static Work send() {
    return new Work(Opcode.SEND, 0);
  }

  /**
   * Flushes the peer's range to its persistence domain, after all work posted before. Completes
   * with {@link Status#UNSUPPORTED} when {@link Device#flushes()} is false.
   */
  public static Work flush() {
    return new Work(Opcode.FLUSH, 0);
  }

  /** Stores one 8-aligned word, after all work posted before. Every device supports it. */
  public static Work atomicWrite() {
    return new Work(Opcode.ATOMIC_WRITE, Long.BYTES);
  }

  /**
   * Compares and swaps one 8-aligned word; the old value is stored in local memory. Every device
   * supports it.
   */
  public static Work compareAndSwap() {
    return new Work(Opcode.COMPARE_AND_SWAP, Long.BYTES);
  }

  /** Sets the ID. */
  public Work id(long id) {
    wrId = id;
    return this;
  }

  /** Reports a completion on success too: {@link Flags#SIGNALED}. */
  public Work signaled() {
    flags |= Flags.SIGNALED;
    return this;
  }

  /**
   * Makes the work start after earlier READs, FLUSHes and atomic operations: {@link Flags#FENCE}.
   */
  public Work fenced() {
    flags |= Flags.FENCE;
    return this;
  }

  /** Sets the local memory, and the length. */
  public Work local(MemoryRegion region, long offset, int bytes) {
    local = region;
    localOffset = offset;
    length = bytes;
    return this;
  }

  /** Sets where the peer's range begins. */
  public Work remote(long key, long offset) {
    remoteKey = key;
    remoteOffset = offset;
    return this;
  }

  /** Sets the peer's range, of work that uses no local memory. */
  public Work remote(long key, long offset, int bytes) {
    length = bytes;
    return remote(key, offset);
  }

  /** Sets the immediate data of a WRITE_IMM. */
  public Work imm(int data) {
    imm = data;
    return this;
  }

  /** Sets the word that a COMPARE_AND_SWAP expects. */
  public Work expected(long word) {
    expected = word;
    return this;
  }

  /** Sets the word that an atomic operation stores. */
  public Work value(long word) {
    value = word;
    return this;
  }

  /** Copies all fields of another one. */
  public Work set(Work other) {
    opcode = other.opcode;
    wrId = other.wrId;
    flags = other.flags;
    imm = other.imm;
    expected = other.expected;
    value = other.value;
    return local(other.local, other.localOffset, other.length)
        .remote(other.remoteKey, other.remoteOffset);
  }

  /** Whether the opcode uses local memory. */
  public boolean hasLocal() {
    return opcode != Opcode.FLUSH && opcode != Opcode.ATOMIC_WRITE;
  }

  /** Whether the work consumes a receive of the peer. */
  public boolean isMessage() {
    return opcode == Opcode.SEND || opcode == Opcode.WRITE_IMM;
  }

  /** Whether the invariants hold, for assertions in devices. */
  public boolean isWellFormed() {
    boolean ofOpcode =
        switch (opcode) {
          case Opcode.READ, Opcode.WRITE, Opcode.WRITE_IMM, Opcode.SEND, Opcode.FLUSH -> true;
          case Opcode.ATOMIC_WRITE, Opcode.COMPARE_AND_SWAP -> length == Long.BYTES;
          default -> false;
        };
    return ofOpcode
        && (flags & ~(Flags.SIGNALED | Flags.FENCE)) == 0
        && (local != null || !hasLocal());
  }

  /** The request in words. */
  @Override
  public String toString() {
    return "work "
        + wrId
        + " of opcode "
        + opcode
        + ", flags "
        + flags
        + ": "
        + length
        + " bytes, local "
        + localOffset
        + ", remote "
        + remoteKey
        + "+"
        + remoteOffset;
  }
}
