package io.erda.rdma.tcp;

import io.erda.rdma.Claims;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;

/**
 * The responder's end, for the server's thread, and for the I/O thread while it handles the peer's
 * messages itself ({@link #onArrival}). It is an embedded queue pair whose peer is the I/O thread.
 * It tells the I/O thread of posted messages, consumed bytes, and ranges that the peer may WRITE.
 * One-sided work of the responder is refused, because the memory of a client can't be accessed over
 * TCP.
 */
final class TcpResponder implements QueuePair, CompletionHandler {
  private static final int CREDIT_BYTES = Frame.WINDOW_BYTES / 4;

  private final TcpServerDevice device;
  private final QueuePair inner;
  private final ServedConnection connection;
  private final Exchange exchange;
  private final IoThread io;
  private final Claims claims;

  /**
   * The work that is posted on the inner queue pair, with the inner region and without a remote
   * key.
   */
  private final Work passed = Work.send();

  private CompletionHandler handler;
  private long consumed;
  private long messages;

  TcpResponder(TcpServerDevice device, QueuePair inner, ServedConnection connection, IoThread io) {
    this.device = device;
    this.inner = inner;
    this.connection = connection;
    this.exchange = connection.exchange;
    this.io = io;
    this.claims = new PassedClaims();
  }

  private MemoryRegion local(MemoryRegion region, long offset, int length) {
    return TcpRegion.of(region, device, offset, length).inner();
  }

  @Override
  public boolean post(Work work) {
    assert work.isWellFormed() : work;
    passed.set(work).remoteKey = 0;
    if (work.hasLocal()) {
      passed.local = local(work.local, work.localOffset, work.length);
    }
    boolean posted = inner.post(passed);
    if (work.opcode == Opcode.SEND) {
      // The signal comes after the post. Otherwise an I/O thread that is awake for another peer
      // could check too early, and not again.
      signal();
    }
    return posted;
  }

  @Override
  public boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length) {
    return inner.postReceive(wrId, local(local, localOffset, length), localOffset, length);
  }

  @Override
  public long grant(MemoryRegion region, long offset, long length) {
    return exchange.grants.grant(TcpRegion.of(region, device, 0, 0), offset, length);
  }

  @Override
  public void revoke(long grantedKey) {
    exchange.grants.revoke(grantedKey);
  }

  @Override
  public int poll(CompletionHandler to, int limit) {
    handler = to;
    int done = inner.poll(this, limit);
    if (consumed - exchange.consumedTold >= CREDIT_BYTES) {
      signal();
    }
    return done;
  }

  @Override
  public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
    int length = byteLength;
    if ((opcode == Opcode.RECEIVE || opcode == Opcode.RECEIVE_IMM) && status != Status.FLUSHED) {
      messages++;
      int bytes = opcode == Opcode.RECEIVE ? byteLength : Integer.BYTES;
      consumed += Window.bytes(bytes);
      exchange.consumed = consumed;
      length = opcode == Opcode.RECEIVE_IMM ? whole(byteLength) : byteLength;
    }
    handler.onCompletion(wrId, opcode, status, length, imm);
  }

  /** Returns the length of the whole WRITE whose last frame has just arrived. */
  private int whole(int ofLastFrame) {
    Exchange.LongWrite next = exchange.longWrites.peek();
    if (next == null || next.message() != messages) {
      return ofLastFrame;
    }
    exchange.longWrites.remove();
    return next.length();
  }

  private void signal() {
    // After the message that it brings now the I/O thread looks at the connection by itself.
    if (!io.isCurrent() || !connection.isBringing()) {
      exchange.dirty = true;
      io.signal();
    }
  }

  @Override
  public boolean onArrival(BooleanSupplier action) {
    return inner.onArrival(action);
  }

  @Override
  public boolean arm() {
    return inner.arm();
  }

  @Override
  public boolean await(long timeoutNs) {
    return inner.await(timeoutNs);
  }

  @Override
  public Claims claims() {
    return claims;
  }

  /**
   * The claims of the inner queue pair. Also signals the I/O thread when the peer waits for an
   * answer about them.
   */
  private final class PassedClaims implements Claims {
    private final Claims within = inner.claims();

    @Override
    public boolean claim() {
      return within.claim();
    }

    @Override
    public boolean isPeerThere() {
      return within.isPeerThere();
    }

    @Override
    public void finish() {
      within.finish();
      // The I/O thread first stores that the peer has withdrawn, and then loads the number of
      // finished messages.
      VarHandle.fullFence();
      if (exchange.withdrawn) {
        signal();
      }
    }

    @Override
    public long sent() {
      return within.sent();
    }
  }

  @Override
  public MemorySegment privateData() {
    return inner.privateData();
  }

  @Override
  public String peer() {
    return connection.peer();
  }

  @Override
  public void close() {
    inner.close();
    exchange.closed = true;
    signal();
  }
}
