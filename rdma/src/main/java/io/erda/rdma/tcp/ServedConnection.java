package io.erda.rdma.tcp;

import io.erda.pmem.MemoryGuard;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import javax.net.ssl.SSLException;

/**
 * The I/O thread's part of the connection with one peer. It takes the peer's frames, and posts them
 * on an embedded queue pair that represents the peer in this process. All bytes of the peer are
 * checked, and a peer that violates the protocol loses its connection.
 *
 * <p>Its buffers bound the memory that a peer can take: while the peer does not read its answers,
 * none of its further frames is read or executed. Called by the I/O thread, except methods that say
 * so.
 */
final class ServedConnection implements CompletionHandler {

  /** The most requests that may end before a frame tells the peer. */
  private static final int ENDED_UNTOLD_MAX = 64;

  private static final int CREDIT_BYTES = Frame.WINDOW_BYTES / 4;

  /** How long a peer may take to read the last bytes before its connection ends. */
  private static final long LINGER_NS = 1_000_000_000L;

  private enum Phase {
    HANDSHAKE,
    /** The server has to accept or reject the peer. */
    DECIDING,
    OPEN,
    /** Waiting bytes are sent, then the connection ends. */
    ENDING,
    ENDED
  }

  final long token;
  final long deadlineNs;
  SelectionKey key;

  final Exchange exchange = new Exchange();
  private final IoThread io;
  private final TcpServerDevice device;
  private final String peer;
  private final Transport transport;
  private final InBuffer in;
  private final OutBuffer out;
  private final ServerHandshake handshake;
  private final MemoryGuard faults = new MemoryGuard();
  private MemoryRegion inRegion;
  private MemoryRegion outRegion;
  private Phase phase = Phase.HANDSHAKE;
  private boolean peerHasEnded;
  private long lingerUntilNs;

  /** The queue pair that represents the peer; null before the peer's handshake has succeeded. */
  private QueuePair executor;

  private int lastStatus;
  private boolean bringing;

  // Work of the executor for the peer.
  private final Work read = Work.read().signaled();
  private final Work write = Work.write().signaled();
  private final Work writeImm = Work.writeImm().signaled();
  private final Work send = Work.send().signaled();
  private final Work atomicWrite = Work.atomicWrite().signaled();
  private final Work swap = Work.compareAndSwap().signaled();

  // Requests.
  private long ended;
  private long endedTold;
  private boolean wantsAck;

  // The READ that is being answered; its length is −1 while there is none.
  private long readKey;
  private long readOffset;
  private int readLeft = -1;

  /** The READs that were begun of the frame that is being executed. */
  private int readsBegun;

  // The state of a WRITE of which more frames will come.
  private boolean writing;
  private int writingStatus;

  // Messages.
  private final Window window = new Window();
  private long receivedBytes;

  /** Whether something for the peer found no room in the buffer at the last attempt. */
  private boolean heldBack;

  private long finishedTold;

  ServedConnection(
      IoThread io, TcpServerDevice device, SocketChannel channel, String peer, long token) {
    this.io = io;
    this.device = device;
    this.peer = peer;
    this.token = token;
    TcpOptions options = io.options();
    this.deadlineNs = options.nanoTime().getAsLong() + options.handshake().toNanos();
    this.transport =
        options.tls() == null ? new Transport.Plain(channel) : options.tls().wrap(channel, null, 0);
    this.handshake = new ServerHandshake(options, transport);
    this.in = new InBuffer(io.takeHandshakeBuffer());
    this.out = new OutBuffer(io.takeHandshakeBuffer());
  }

  /** The peer's address, for messages. From any thread. */
  String peer() {
    return peer;
  }

  /** The peer's private data. From any thread, after its request has been seen. */
  MemorySegment privateData() {
    return handshake.privateData();
  }

  // Turns.

  /** Called when the socket has bytes, or has room. */
  void onReady(SelectionKey ready) {
    try {
      if ((ready.isReadable() || transport.hasMore()) && phase != Phase.ENDING) {
        peerHasEnded |= in.fill(transport) < 0;
      }
      if (!faults.attempt(this, ServedConnection::work)) {
        gone();
      }
    } catch (SSLException e) {
      refuse(RefusedPeers.Kind.TLS, TlsTransport.whyAtServer(e));
    } catch (IOException | RuntimeException e) {
      gone();
    }
  }

  /** Called when another thread has signalled. */
  void onSignal() {
    if (!exchange.dirty && phase != Phase.DECIDING) {
      return;
    }
    exchange.dirty = false;
    goOn();
  }

  /** Goes on where the connection could not, without new bytes of its socket. */
  void goOn() {
    try {
      if (!faults.attempt(this, ServedConnection::decideAndWork)) {
        drop();
      }
    } catch (IOException | RuntimeException e) {
      drop();
    }
  }

  private void decideAndWork() throws IOException {
    if (phase == Phase.DECIDING) {
      executor.poll(this, 1);
    }
    work();
  }

  /** Ends a connection that has lingered for long enough. */
  void expire(long nowNs) {
    if (phase == Phase.ENDING && nowNs - lingerUntilNs >= 0) {
      drop();
    }
  }

  private void work() throws IOException {
    heldBack = false;
    take();
    if (phase == Phase.OPEN) {
      passMessages();
      tell();
      faults.surface();
      if (exchange.closed && phase == Phase.OPEN) {
        // A peer that does not read its last bytes must not keep the connection open.
        linger();
      }
    }
    boolean allSent = out.flush(transport);
    if (phase == Phase.ENDED) {
      return;
    }
    if (peerHasEnded) {
      gone();
      return;
    }
    if (phase == Phase.ENDING && allSent) {
      drop();
      return;
    }
    watch(allSent);
  }

  /**
   * Sets the events for which the selector watches the socket. No more bytes are read while a frame
   * or a READ waits for room for its answer; it goes on, in another turn, when the socket has taken
   * some bytes. So does what was held back, even if the socket has taken all bytes since: no signal
   * announces it again.
   */
  private void watch(boolean allSent) {
    boolean waits = phase == Phase.OPEN && (readLeft >= 0 || in.frame(Frame.BYTES_MAX) != 0);
    boolean reads = phase != Phase.ENDING && phase != Phase.DECIDING && !waits;
    boolean writes = waits || !allSent || heldBack || reads && transport.hasMore();
    int wanted = (reads ? SelectionKey.OP_READ : 0) | (writes ? SelectionKey.OP_WRITE : 0);
    if (key.interestOps() != wanted) {
      key.interestOps(wanted);
    }
  }

  /** Ends the connection now. Idempotent. */
  void drop() {
    if (phase == Phase.ENDED) {
      return;
    }
    if (phase == Phase.ENDING) {
      io.lingers(-1);
    }
    leave(Phase.ENDED);
    if (executor != null) {
      executor.close();
    }
    transport.close();
    io.giveBack(in.memory());
    io.giveBack(out.memory());
    io.forget(this);
  }

  /** Ends the connection now, and reports why. Idempotent. */
  void refuse(RefusedPeers.Kind kind, String why) {
    if (phase != Phase.ENDING && phase != Phase.ENDED) {
      device.refusals().add(kind, peer, why);
    }
    drop();
  }

  private void refuseForMemory() {
    refuse(RefusedPeers.Kind.MEMORY, RefusedPeers.MEMORY);
  }

  private void wrong() {
    refuse(RefusedPeers.Kind.GARBAGE, RefusedPeers.GARBAGE);
  }

  /**
   * Handles the end of the peer. A peer that leaves in the middle of the handshake counts as
   * refused.
   */
  private void gone() {
    if (phase == Phase.HANDSHAKE && transport.isAgreeing()) {
      refuse(RefusedPeers.Kind.TLS, "it left before TLS was agreed on");
    } else if (phase == Phase.HANDSHAKE && in.available() > 0) {
      wrong();
    } else {
      drop();
    }
  }

  /** Takes the frames that have arrived, as long as there is room for answers. */
  private void take() throws IOException {
    while (true) {
      switch (phase) {
        case HANDSHAKE -> {
          if (!onHandshake()) {
            return;
          }
        }
        case OPEN -> {
          if (readLeft >= 0 && !answerRead()) {
            return;
          }
          if (!execute()) {
            return;
          }
        }
        default -> {
          return;
        }
      }
    }
  }

  // Handshake.

  private boolean onHandshake() throws IOException {
    if (!io.mayDecide(this)) {
      return false;
    }
    switch (handshake.advance(in, out)) {
      case WAITS -> {
        return false;
      }
      case REFUSED -> {
        device.refusals().add(handshake.refusal(), peer, handshake.why());
        linger();
        return false;
      }
      case GOES_ON -> {
        MemorySegment request = MemorySegment.ofArray(new byte[Long.BYTES]);
        Frame.putLong(request, 0, token);
        long leftNs = Math.max(1, deadlineNs - io.options().nanoTime().getAsLong());
        try {
          executor = io.executor().connect(io.executorAddress(), request, Duration.ofNanos(leftNs));
        } catch (OutOfMemoryError e) {
          refuseForMemory();
          return false;
        }
        phase = Phase.DECIDING;
        io.decides(1);
        executor.poll(this, 1);
      }
    }
    return phase == Phase.OPEN;
  }

  private void onDecided(int status) {
    assert phase == Phase.DECIDING : phase;
    try {
      handshake.answer(out, status == Status.SUCCESS, executor.privateData());
    } catch (IOException e) {
      drop();
      return;
    }
    if (status != Status.SUCCESS) {
      linger();
      return;
    }
    io.connected(this);
    try {
      takeBuffers();
    } catch (OutOfMemoryError e) {
      refuseForMemory();
      return;
    }
    inRegion = io.local(in.memory());
    outRegion = io.local(out.memory());
    leave(Phase.OPEN);
    postReceive();
  }

  /** Goes on to the next phase. */
  private void leave(Phase to) {
    if (phase == Phase.DECIDING) {
      io.decides(-1);
    }
    phase = to;
  }

  /** Takes larger buffers in place of those of the handshake. */
  private void takeBuffers() {
    MemorySegment smallIn = in.memory();
    in.moveTo(io.takeBuffer());
    io.giveBack(smallIn);
    MemorySegment smallOut = out.memory();
    out.moveTo(io.takeBuffer());
    io.giveBack(smallOut);
  }

  private void linger() {
    assert phase != Phase.ENDING && phase != Phase.ENDED : phase;
    leave(Phase.ENDING);
    io.lingers(1);
    lingerUntilNs = io.options().nanoTime().getAsLong() + LINGER_NS;
  }

  // Requests.

  /**
   * Executes the next frame. Returns false when the frame has not arrived, or can't be executed
   * yet.
   */
  private boolean execute() {
    int bytes = in.frame(Frame.BYTES_MAX);
    if (bytes == 0 || !hasRoomForAnswer()) {
      return false;
    }
    if (bytes == Frame.DAMAGED) {
      refuse(RefusedPeers.Kind.DAMAGED, RefusedPeers.DAMAGED);
      return false;
    }
    if (bytes == Frame.WRONG || !onFrame(in.memory(), in.at())) {
      wrong();
      return false;
    }
    if (readsBegun > 0) {
      return false;
    }
    in.take(bytes);
    return phase == Phase.OPEN;
  }

  /** Handles a frame. Returns false when it violates the protocol. */
  private boolean onFrame(MemorySegment memory, int at) {
    if (!window.hear(Frame.consumed(memory, at))) {
      return false;
    }
    int payload = Frame.payload(memory, at);
    int type = Frame.type(memory, at);
    if (writing && type != Frame.WRITE && type != Frame.WITHDRAW) {
      return false;
    }
    int flags = Frame.flags(memory, at);
    return switch (type) {
      case Frame.READ -> onReads(memory, at, payload);
      case Frame.WRITE ->
          payload >= Frame.WRITE_HEADER_BYTES && onWrite(memory, at, payload, flags);
      case Frame.SEND -> onSend(at, payload, flags);
      case Frame.ATOMIC_WRITE ->
          payload == Frame.ATOMIC_WRITE_BYTES && onAtomicWrite(memory, at, flags);
      case Frame.COMPARE_AND_SWAP ->
          payload == Frame.COMPARE_AND_SWAP_BYTES && onCompareAndSwap(memory, at);
      case Frame.FLUSH -> payload == Frame.FLUSH_BYTES && onFlush(memory, at, flags);
      case Frame.WITHDRAW -> payload == 0 && onWithdraw();
      case Frame.CREDIT -> payload == 0;
      default -> false;
    };
  }

  /**
   * Executes the READs of a frame, as far as there is room for their answers. {@link #readsBegun}
   * is 0 again when all of them were begun, and the last is answered or will be.
   */
  private boolean onReads(MemorySegment memory, int at, int payload) {
    int reads = payload / Frame.READ_BYTES;
    if (reads == 0 || reads > Frame.READS_MAX || reads * Frame.READ_BYTES != payload) {
      return false;
    }
    while (readsBegun < reads) {
      int read = at + readsBegun * Frame.READ_BYTES;
      long length = Frame.getLong(memory, read + Frame.LENGTH_OF);
      if (length < 0 || length > Integer.MAX_VALUE) {
        return false;
      }
      readKey = Frame.getLong(memory, read + Frame.KEY);
      readOffset = Frame.getLong(memory, read + Frame.OFFSET);
      readLeft = (int) length;
      readsBegun++;
      io.counters.read(length);
      boolean goesOn = answerRead() && hasRoomForAnswer();
      if (!goesOn && readsBegun < reads) {
        return true;
      }
    }
    readsBegun = 0;
    return true;
  }

  /** Whether there is room for the answer to any frame; only the data of a READ may wait for it. */
  private boolean hasRoomForAnswer() {
    return out.hasRoom(2 * Frame.HEADER_BYTES + Frame.WITHDRAWN_BYTES);
  }

  /**
   * Adds frames of the READ's answer, as far as there is room. Returns whether the answer is
   * complete.
   */
  private boolean answerRead() {
    while (readLeft >= 0) {
      int bytes = Math.min(readLeft, Frame.DATA_BYTES_MAX);
      if (!out.hasRoom(Frame.HEADER_BYTES + Frame.padded(bytes))) {
        return false;
      }
      int status = read(out.partAt(Frame.DATA, bytes, Frame.DATA_BYTES_MAX), bytes);
      if (status != Status.SUCCESS) {
        readLeft = -1;
        end(status);
        return true;
      }
      readLeft -= bytes;
      readOffset += bytes;
      boolean last = readLeft == 0;
      if (last) {
        readLeft = -1;
        ended++;
      }
      long consumed = exchange.consumed;
      out.addPart(Frame.DATA, bytes, last ? Frame.LAST : 0, ended, consumed);
      told(consumed);
    }
    return true;
  }

  /** READs the next bytes into the buffer of answers. Returns the status. */
  private int read(long to, int bytes) {
    return execute(read.local(outRegion, to, bytes).remote(readKey, readOffset));
  }

  /** Executes work at once. Returns its status. */
  private int execute(Work work) {
    executor.post(work);
    executor.poll(this, 1);
    return lastStatus;
  }

  /**
   * Executes work that consumes a receive of the server. Returns false when there is no receive.
   */
  private boolean executeMessage(Work work) {
    bringing = true;
    boolean posted = executor.post(work);
    bringing = false;
    if (posted) {
      executor.poll(this, 1);
    }
    return posted;
  }

  /**
   * Whether this thread, the I/O thread, brings a message to the server's end, which it may handle
   * itself.
   */
  boolean isBringing() {
    return bringing;
  }

  private boolean onWrite(MemorySegment memory, int at, int payload, int flags) {
    boolean imm = (flags & Frame.IMM) != 0;
    boolean more = (flags & Frame.MORE) != 0;
    int bytes = payload - Frame.WRITE_HEADER_BYTES;
    int total = Frame.getInt(memory, at + Frame.WRITE_TOTAL);
    if (total < bytes) {
      return false;
    }
    int status = writing ? writingStatus : Status.SUCCESS;
    if (status == Status.SUCCESS) {
      long offset = Frame.getLong(memory, at + Frame.OFFSET);
      long to = writable(Frame.getLong(memory, at + Frame.KEY), offset, bytes);
      long from = at + (long) Frame.WRITE_DATA;
      if (to == 0) {
        status = Status.REMOTE_ACCESS;
      } else if (imm && !more) {
        if (!receives(Integer.BYTES)) {
          return false;
        }
        if (bytes < total) {
          exchange.longWrites.add(new Exchange.LongWrite(executor.claims().sent() + 1, total));
        }
        writeImm.imm = Frame.getInt(memory, at + Frame.WRITE_IMM);
        if (!executeMessage(writeImm.local(inRegion, from, bytes).remote(to, offset))) {
          return false;
        }
        status = lastStatus;
      } else {
        status = execute(write.local(inRegion, from, bytes).remote(to, offset));
      }
    }
    writing = more;
    writingStatus = status;
    if (!more) {
      io.counters.write(total);
      end(status, flags);
    }
    return true;
  }

  /**
   * Returns the key of the region to which this peer may WRITE by {@code remoteKey}; 0 when it may
   * not.
   */
  private long writable(long remoteKey, long offset, int bytes) {
    if (Grants.isGrant(remoteKey)) {
      TcpRegion region = exchange.grants.region(remoteKey, offset, bytes);
      return region == null ? 0 : region.remoteKey();
    }
    return device.mayWrite(remoteKey) ? remoteKey : 0;
  }

  /** Counts a message. Returns whether it is within the window. */
  private boolean receives(int length) {
    receivedBytes += Window.bytes(length);
    return receivedBytes - exchange.consumed <= Frame.WINDOW_BYTES;
  }

  private boolean onSend(int at, int length, int flags) {
    if (length > device.messageBytesMax() || !receives(length)) {
      return false;
    }
    long from = at + (long) Frame.HEADER_BYTES;
    if (!executeMessage(send.local(inRegion, from, length))) {
      return false;
    }
    end(lastStatus, flags);
    return true;
  }

  private boolean onAtomicWrite(MemorySegment memory, int at, int flags) {
    long offset = Frame.getLong(memory, at + Frame.OFFSET);
    long to = writable(Frame.getLong(memory, at + Frame.KEY), offset, Long.BYTES);
    int status = Status.REMOTE_ACCESS;
    if (to != 0) {
      atomicWrite.value = Frame.getLong(memory, at + Frame.VALUE);
      status = execute(atomicWrite.remote(to, offset));
    }
    io.counters.write(Long.BYTES);
    end(status, flags);
    return true;
  }

  private boolean onCompareAndSwap(MemorySegment memory, int at) {
    swap.local(outRegion, out.at() + (long) Frame.HEADER_BYTES, Long.BYTES);
    swap.remote(Frame.getLong(memory, at + Frame.KEY), Frame.getLong(memory, at + Frame.OFFSET));
    swap.expected = Frame.getLong(memory, at + Frame.EXPECTED);
    swap.value = Frame.getLong(memory, at + Frame.VALUE);
    int status = execute(swap);
    if (status != Status.SUCCESS) {
      end(status);
    } else {
      ended++;
      add(Long.BYTES, Frame.DATA, Frame.LAST, Status.SUCCESS);
    }
    return true;
  }

  private boolean onFlush(MemorySegment memory, int at, int flags) {
    TcpRegion region = device.region(Frame.getLong(memory, at + Frame.KEY));
    long offset = Frame.getLong(memory, at + Frame.OFFSET);
    long length = Frame.getLong(memory, at + Frame.LENGTH_OF);
    if (length < 0 || length > Integer.MAX_VALUE) {
      return false;
    }
    end(region == null ? Status.REMOTE_ACCESS : region.flush(offset, (int) length), flags);
    return true;
  }

  private boolean onWithdraw() {
    if (exchange.withdrawn) {
      return false;
    }
    writing = false;
    executor.claims().withdraw();
    exchange.withdrawn = true;
    tellWithdrawn();
    return true;
  }

  /** Sends the peer, which has withdrawn, the numbers of claimed and finished messages. */
  private void tellWithdrawn() {
    finishedTold = executor.claims().finished();
    Frame.putLong(out.memory(), out.at() + Frame.CLAIMED, executor.claims().claimed());
    Frame.putLong(
        out.memory(),
        out.at() + Frame.FINISHED,
        Math.min(finishedTold, executor.claims().claimed()));
    add(Frame.WITHDRAWN_BYTES, Frame.WITHDRAWN, 0, Status.SUCCESS);
  }

  /** Ends a request. Its flags say whether the peer must be told. */
  private void end(int status, int flags) {
    if (status == Status.SUCCESS) {
      ended++;
      wantsAck |= (flags & Frame.ACK) != 0;
    } else {
      end(status);
    }
  }

  /** Ends a request that failed. The peer is told of each failure. */
  private void end(int status) {
    if (status == Status.REMOTE_ACCESS) {
      io.accessesRefused.incrementAndGet();
    }
    ended++;
    add(0, Frame.DONE, 0, status);
  }

  private void add(int payload, int type, int flags, int status) {
    long consumed = exchange.consumed;
    out.addFrame(payload, type, flags, status, ended, consumed);
    told(consumed);
  }

  private void told(long consumed) {
    exchange.consumedTold = consumed;
    endedTold = ended;
    wantsAck = false;
  }

  // Messages of the server.

  private void postReceive() {
    executor.postReceive(0, io.scratchRegion, 0, Frame.DATA_BYTES_MAX);
  }

  /** Passes on messages of the server, as far as the peer's window and the buffer have room. */
  private void passMessages() {
    boolean more = true;
    while (more && phase == Phase.OPEN && mayPass()) {
      more = executor.poll(this, 1) > 0;
    }
  }

  private boolean mayPass() {
    if (readLeft >= 0 || !window.hasRoom(Frame.DATA_BYTES_MAX)) {
      return false;
    }
    boolean room = out.hasRoom(Frame.HEADER_BYTES + Frame.DATA_BYTES_MAX);
    heldBack |= !room;
    return room;
  }

  /**
   * Sends the peer the numbers of ended requests, and of consumed and finished messages, if no
   * other frame has done so.
   */
  private void tell() {
    if (phase != Phase.OPEN) {
      return;
    }
    if (!hasRoomForAnswer()) {
      heldBack = true;
      return;
    }
    if (exchange.withdrawn && executor.claims().finished() != finishedTold) {
      tellWithdrawn();
    }
    if (ended != endedTold && (wantsAck || ended - endedTold >= ENDED_UNTOLD_MAX)
        || exchange.consumed - exchange.consumedTold >= CREDIT_BYTES) {
      add(0, Frame.DONE, 0, Status.SUCCESS);
    }
  }

  @Override
  public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
    switch (opcode) {
      case Opcode.CONNECT -> onDecided(status);
      case Opcode.DISCONNECT -> {
        if (phase == Phase.OPEN) {
          linger();
        }
      }
      case Opcode.RECEIVE -> {
        if (status == Status.SUCCESS) {
          MemorySegment.copy(
              io.scratch, 0, out.memory(), out.at() + (long) Frame.HEADER_BYTES, byteLength);
          window.send(byteLength);
          add(byteLength, Frame.MESSAGE, 0, Status.SUCCESS);
          postReceive();
        }
      }
      default -> lastStatus = status;
    }
  }
}
