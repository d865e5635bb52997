package io.erda.rdma.tcp;

import io.erda.rdma.Claims;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Flags;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.StackRoom;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/**
 * The requester's end of a connection. The caller's thread drives the socket itself: {@link #poll}
 * and {@link #arm} send and receive, so a call that waits for its answer needs no other thread
 * here.
 *
 * <p>Requests end in the order in which they were posted, and each frame of the other end has the
 * number of requests that have ended; see {@code FORMAT-tcp.md}. A WRITE that finds no room in the
 * buffer is sent in pieces, and no other work can be posted until the whole WRITE was sent.
 */
final class TcpQueuePair implements QueuePair {
  private static final int DEPTH = 1024;
  private static final int BUFFER_BYTES = 64 << 10;

  /** The bytes that may wait for the next poll. When there are more, the post sends them. */
  private static final int FLUSH_BYTES = 32 << 10;

  /** The bytes of READs that may wait for the next poll: a full frame of them. */
  private static final int READS_FLUSH_BYTES =
      Frame.HEADER_BYTES + Frame.READS_MAX * Frame.READ_BYTES;

  // The results of admit().
  private static final int ADMITTED = 0;
  private static final int LATER = 1;
  private static final int OVER = 2;

  private enum Phase {
    CONNECTING,
    CONNECTED,
    ENDED,
    CLOSED
  }

  private final TcpClientDevice device;
  private final ClientHandshake handshake;
  private final long connectDeadline;
  private final InBuffer in = new InBuffer(Arena.ofAuto().allocate(BUFFER_BYTES, 64));
  private final OutBuffer out = new OutBuffer(Arena.ofAuto().allocate(BUFFER_BYTES, 64));
  private final TcpCompletions completions = new TcpCompletions(4 * DEPTH);
  private final Inbox inbox;
  private final OutstandingRequests requests = new OutstandingRequests(DEPTH, completions);
  private Transport transport;
  private Phase phase = Phase.CONNECTING;
  private MemorySegment privateData = MemorySegment.ofArray(new byte[0]);

  /** The WRITE that was not sent completely yet, if there is one. */
  private final PartialWrite partial = new PartialWrite();

  // Messages.
  private final Window window = new Window();
  private final SentMessages messages = new SentMessages(this);

  /** The reason why this end cut off the connection; empty when it did not. */
  private String cutOff = "";

  TcpQueuePair(
      TcpClientDevice device, String address, MemorySegment privateData, Duration timeout) {
    this.device = device;
    this.inbox = new Inbox(completions, device.messageBytesMax(), device.counters());
    this.connectDeadline = device.nowNs() + timeout.toNanos();
    this.handshake = new ClientHandshake(device, address, privateData, connectDeadline);
  }

  // Posting.

  /**
   * Whether work fails at once, because the connection has ended or this requester has withdrawn.
   */
  private boolean isOver() {
    return phase != Phase.CONNECTED || messages.isWithdrawn();
  }

  /**
   * Whether work can be posted now. When the connection has ended, the work fails at once.
   *
   * @return {@link #ADMITTED}, {@link #LATER} or {@link #OVER}
   */
  private int admit(Work work) {
    if (phase == Phase.CLOSED) {
      throw closed();
    }
    if (phase == Phase.CONNECTING
        || !partial.isOut()
        || requests.count() + completions.ofRequests() >= DEPTH) {
      return LATER;
    }
    if (isOver()) {
      completions.add(work.wrId, work.opcode, Status.FLUSHED, 0, 0);
      return OVER;
    }
    boolean fits = !work.isMessage() || window.hasRoom(messageBytes(work));
    return fits && room(firstFrameBytes(work)) ? ADMITTED : LATER;
  }

  /**
   * Returns the length of a message in the peer's window. The notice of a WRITE_IMM counts as 4
   * bytes.
   */
  private static int messageBytes(Work work) {
    return work.opcode == Opcode.SEND ? work.length : Integer.BYTES;
  }

  /** Returns the length of the first frame, which is the only frame except for a WRITE. */
  private static int firstFrameBytes(Work work) {
    return switch (work.opcode) {
      case Opcode.READ -> Frame.HEADER_BYTES + Frame.READ_BYTES;
      case Opcode.WRITE, Opcode.WRITE_IMM ->
          Frame.WRITE_DATA + Frame.padded(Math.min(work.length, Frame.DATA_BYTES_MAX));
      case Opcode.SEND -> Frame.HEADER_BYTES + Frame.padded(work.length);
      case Opcode.FLUSH -> Frame.HEADER_BYTES + Frame.FLUSH_BYTES;
      case Opcode.ATOMIC_WRITE -> Frame.HEADER_BYTES + Frame.ATOMIC_WRITE_BYTES;
      case Opcode.COMPARE_AND_SWAP -> Frame.HEADER_BYTES + Frame.COMPARE_AND_SWAP_BYTES;
      default -> throw new IllegalArgumentException(work.toString());
    };
  }

  private boolean room(int frameBytes) {
    if (out.hasRoom(frameBytes)) {
      return true;
    }
    flush();
    return phase == Phase.CONNECTED && out.hasRoom(frameBytes);
  }

  private void add(int payload, int type, int flags) {
    out.addFrame(payload, type, flags, 0, 0, inbox.tellConsumed());
    if (out.waiting() >= FLUSH_BYTES) {
      flush();
    }
  }

  private static int ack(Work work) {
    return (work.flags & Flags.SIGNALED) != 0 ? Frame.ACK : 0;
  }

  @Override
  public boolean post(Work work) {
    assert work.isWellFormed() : work;
    if (work.opcode == Opcode.SEND && work.length > device.messageBytesMax()) {
      throw new IllegalArgumentException(
          "message of " + work.length + " bytes; at most " + device.messageBytesMax());
    }
    TcpRegion local =
        work.hasLocal() ? TcpRegion.of(work.local, device, work.localOffset, work.length) : null;
    int admitted = admit(work);
    if (admitted != ADMITTED) {
      return admitted == OVER;
    }
    requests.add(work, local);
    switch (work.opcode) {
      case Opcode.READ -> addRead(work);
      case Opcode.WRITE -> write(work, local, 0);
      case Opcode.WRITE_IMM -> {
        write(work, local, Frame.IMM);
        if (!isOver()) {
          countMessage(Integer.BYTES);
        }
      }
      case Opcode.SEND -> addSend(work, local);
      case Opcode.FLUSH -> {
        putTarget(work, out.at(), work.length);
        add(Frame.FLUSH_BYTES, Frame.FLUSH, ack(work));
      }
      case Opcode.ATOMIC_WRITE -> {
        putTarget(work, out.at(), work.value);
        add(Frame.ATOMIC_WRITE_BYTES, Frame.ATOMIC_WRITE, ack(work));
        device.counters().write(Long.BYTES);
      }
      case Opcode.COMPARE_AND_SWAP -> {
        putTarget(work, out.at(), work.value);
        Frame.putLong(out.memory(), out.at() + Frame.EXPECTED, work.expected);
        add(Frame.COMPARE_AND_SWAP_BYTES, Frame.COMPARE_AND_SWAP, 0);
      }
      default -> throw new IllegalArgumentException(work.toString());
    }
    return true;
  }

  private void addRead(Work work) {
    int readsMax = Frame.READS_MAX * Frame.READ_BYTES;
    int at = out.partAt(Frame.READ, Frame.READ_BYTES, readsMax);
    putTarget(work, at - Frame.HEADER_BYTES, work.length);
    out.addPart(Frame.READ, Frame.READ_BYTES, 0, 0, inbox.tellConsumed());
    if (out.waiting() >= READS_FLUSH_BYTES) {
      flush();
    }
    device.counters().read(work.length);
  }

  private void putTarget(Work work, int at, long third) {
    MemorySegment memory = out.memory();
    Frame.putLong(memory, at + Frame.KEY, work.remoteKey);
    Frame.putLong(memory, at + Frame.OFFSET, work.remoteOffset);
    Frame.putLong(memory, at + Frame.LENGTH_OF, third);
  }

  private void write(Work work, TcpRegion from, int frameFlags) {
    partial.begin(from, work, frameFlags | ack(work));
    requests.newestIsPartial(true);
    device.counters().write(work.length);
    goOnWriting();
  }

  private void addSend(Work work, TcpRegion from) {
    MemorySegment.copy(
        from.memory(), work.localOffset, out.memory(), out.at() + Frame.HEADER_BYTES, work.length);
    add(work.length, Frame.SEND, ack(work));
    countMessage(work.length);
    device.counters().send();
  }

  private void countMessage(int bytes) {
    messages.onPosted();
    window.send(bytes);
  }

  /** Adds frames of the WRITE that was sent in part, as far as there is room. */
  private void goOnWriting() {
    while (!partial.isOut() && room(Frame.WRITE_DATA + Frame.padded(partial.nextBytes()))) {
      int payload = Frame.WRITE_HEADER_BYTES + partial.nextBytes();
      int flags = partial.putNext(out.memory(), out.at());
      requests.newestIsPartial(!partial.isOut());
      add(payload, Frame.WRITE, flags);
    }
  }

  @Override
  public boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length) {
    if (phase == Phase.CLOSED) {
      throw closed();
    }
    TcpRegion to = TcpRegion.of(local, device, localOffset, length);
    if (inbox.isFull()) {
      return false;
    }
    if (phase == Phase.ENDED) {
      completions.add(wrId, Opcode.RECEIVE, Status.FLUSHED, 0, 0);
      return true;
    }
    inbox.post(wrId, to, localOffset, length);
    return true;
  }

  // Completions.

  @Override
  public int poll(CompletionHandler handler, int limit) {
    if (phase == Phase.CLOSED) {
      return 0;
    }
    drive();
    return completions.drain(handler, limit);
  }

  @Override
  public boolean arm() {
    if (phase == Phase.CLOSED) {
      return true;
    }
    drive();
    if (completions.count() > 0) {
      return false;
    }
    SocketChannel channel = handshake.channel();
    if (channel != null) {
      boolean toWrite = !partial.isOut() || isToSend();
      device.watch(channel, transport != null, toWrite);
    }
    return true;
  }

  @Override
  public boolean await(long timeoutNs) {
    return device.await(timeoutNs);
  }

  /** Sends and receives as many bytes as the socket allows. */
  private void drive() {
    // One check is made for all steps in the socket. Checks in each step took 7% of the time of a
    // client that has 16 gets under way.
    StackRoom.require(StackRoom.OF_CHANNEL);
    if (phase == Phase.CONNECTING) {
      connect();
    }
    if (phase == Phase.CONNECTED) {
      goOnWriting();
      if (isToSend()) {
        send();
      }
      receive();
    }
  }

  private boolean isToSend() {
    return out.waiting() > 0 || transport != null && transport.isWaiting();
  }

  /** Sends what waits to be sent. */
  private void flush() {
    if (isToSend()) {
      StackRoom.require(StackRoom.OF_CHANNEL);
      send();
    }
  }

  /** REQUIRES: the stack has {@link StackRoom#OF_CHANNEL}. */
  private void send() {
    try {
      out.flush(transport);
    } catch (IOException e) {
      // Frames that arrived before the error are still used.
      receive();
      end();
    }
  }

  private void receive() {
    try {
      boolean more = true;
      while (more && phase == Phase.CONNECTED) {
        int read = in.fill(transport);
        more = in.isFull();
        take();
        if (read < 0) {
          end();
        }
      }
    } catch (IOException e) {
      end();
    }
    if (phase == Phase.CONNECTED && inbox.isToTell() && out.hasRoom(Frame.HEADER_BYTES)) {
      add(0, Frame.CREDIT, 0);
      flush();
    }
  }

  /** Takes the frames that have arrived. */
  private void take() {
    while (phase == Phase.CONNECTED) {
      int bytes = in.frame(Frame.BYTES_MAX);
      if (bytes == 0) {
        return;
      }
      if (bytes == Frame.DAMAGED) {
        handshake.onDamaged();
        end();
        return;
      }
      if (bytes == Frame.WRONG || !onFrame(in.memory(), in.at())) {
        end();
        return;
      }
      in.take(bytes);
    }
  }

  /** Handles a frame. Returns false when it violates the protocol. */
  private boolean onFrame(MemorySegment memory, long at) {
    long ended = Frame.ended(memory, at);
    if (!window.hear(Frame.consumed(memory, at))) {
      return false;
    }
    int payload = Frame.payload(memory, at);
    return switch (Frame.type(memory, at)) {
      case Frame.DATA -> {
        boolean last = (Frame.flags(memory, at) & Frame.LAST) != 0;
        yield requests.deliver(ended, memory, at + Frame.HEADER_BYTES, payload, last);
      }
      case Frame.DONE -> {
        int status = Frame.status(memory, at);
        boolean possible =
            status == Status.SUCCESS ? requests.succeed(ended) : requests.fail(ended, status);
        yield payload == 0 && possible;
      }
      case Frame.MESSAGE ->
          requests.succeed(ended) && inbox.take(memory, at + Frame.HEADER_BYTES, payload);
      case Frame.WITHDRAWN ->
          payload == Frame.WITHDRAWN_BYTES
              && requests.succeed(ended)
              && messages.hear(
                  Frame.getLong(memory, at + Frame.CLAIMED),
                  Frame.getLong(memory, at + Frame.FINISHED));
      default -> false;
    };
  }

  // Connecting.

  private void connect() {
    int status = handshake.advance(in, out);
    transport = handshake.transport();
    if (status == ClientHandshake.UNDECIDED) {
      if (device.nowNs() - connectDeadline < 0) {
        return;
      }
      status = Status.TIMEOUT;
    }
    privateData = handshake.privateData();
    decided(status);
  }

  private void decided(int status) {
    assert phase == Phase.CONNECTING : phase;
    phase = status == Status.SUCCESS ? Phase.CONNECTED : Phase.ENDED;
    completions.add(0, Opcode.CONNECT, status, 0, 0);
    if (status != Status.SUCCESS) {
      inbox.flush();
      release();
    }
  }

  /** Ends the connection, or the attempt, because its socket can't be waited for. */
  void cutOff(String why) {
    if (phase == Phase.CONNECTING) {
      cutOff = why;
      decided(Status.LOCAL);
    } else if (phase == Phase.CONNECTED) {
      cutOff = why;
      end();
    }
  }

  /** When an attempt to connect has to be polled although nothing has happened. */
  long lookAgainNs() {
    return transport == null ? handshake.lookAgainNs() : connectDeadline;
  }

  boolean isConnecting() {
    return phase == Phase.CONNECTING;
  }

  // The end.

  private void end() {
    if (phase != Phase.CONNECTED) {
      return;
    }
    phase = Phase.ENDED;
    partial.end();
    requests.failAll(Status.FLUSHED);
    inbox.flush();
    completions.add(0, Opcode.DISCONNECT, Status.SUCCESS, 0, 0);
    release();
  }

  private void release() {
    if (transport != null) {
      transport.close();
    }
    handshake.close();
  }

  @Override
  public Claims claims() {
    return messages;
  }

  void tellThatItWithdrew() {
    // The other end would refuse the rest of the WRITE.
    partial.end();
    if (phase == Phase.CONNECTED && room(Frame.HEADER_BYTES)) {
      add(0, Frame.WITHDRAW, 0);
      flush();
    }
  }

  boolean isClosed() {
    return phase == Phase.CLOSED;
  }

  @Override
  public MemorySegment privateData() {
    return privateData;
  }

  @Override
  public String failure() {
    return cutOff.isEmpty() ? handshake.failure() : cutOff;
  }

  @Override
  public String peer() {
    return handshake.address();
  }

  @Override
  public void close() {
    if (phase != Phase.CLOSED) {
      messages.withdraw();
      phase = Phase.CLOSED;
      completions.clear();
    }
    // An error may have ended an earlier call here.
    release();
    device.forget(this);
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("queue pair is closed");
  }
}
