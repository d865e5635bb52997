package io.erda.eval.experiments.processor;

import io.erda.eval.process.ProcessException;
import io.erda.pmem.Backing;
import io.erda.protocol.Handshake;
import io.erda.protocol.Message;
import io.erda.protocol.Protocol;
import io.erda.rdma.Access;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.Poller;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The cheapest request (RESOLVE of an absent key), directly on the queue pair: measures a round
 * trip to the server. One thread.
 */
final class BareRequests implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int KEY_BYTES = 8;
  private static final int REQUEST_BYTES = Message.RESOLVE_KEY + KEY_BYTES;
  private static final long SEND_ID = 1;
  private static final long RECEIVE_ID = 2;

  private final Arena arena = Arena.ofConfined();
  private final Device device;
  private final MemorySegment sendMemory;
  private final Work request = Work.send().id(SEND_ID);
  private final MemoryRegion receive;
  private final QueuePair queuePair;
  private final Handshake.Welcome welcome;
  private final CompletionHandler handler = this::completed;

  /** Spins and yields as a client does, but never sleeps. */
  private final Poller poller =
      new Poller(System::nanoTime, Poller.DEFAULT_SPIN_NS, TIMEOUT.toNanos());

  private boolean arrived;
  private int failedStatus;
  private long requestId;

  private BareRequests(Path data) throws IOException {
    this.device = ShmDevice.open(ShmOptions.toConnect(System::nanoTime));
    this.sendMemory = arena.allocate(Protocol.MESSAGE_BYTES_MAX, 64);
    request.local(
        device.register(sendMemory, Backing.none(Protocol.MESSAGE_BYTES_MAX), Access.LOCAL),
        0,
        REQUEST_BYTES);
    MemorySegment receiveMemory = arena.allocate(Protocol.MESSAGE_BYTES_MAX, 64);
    this.receive =
        device.register(receiveMemory, Backing.none(Protocol.MESSAGE_BYTES_MAX), Access.LOCAL);
    MemorySegment hello =
        Handshake.encode(
            new Handshake.Hello(
                Protocol.VERSION,
                Protocol.LAYOUT_VERSION,
                null,
                ProcessHandle.current().pid(),
                null));
    this.queuePair =
        device.connect(data.resolve("shm").toAbsolutePath().toString(), hello, TIMEOUT);
    await();
    this.welcome = Handshake.decodeWelcome(queuePair.privateData());
    if (welcome == null) {
      throw new ProcessException("the server's answer is no welcome");
    }
  }

  static BareRequests connect(Path data) {
    try {
      return new BareRequests(data);
    } catch (IOException e) {
      throw new ProcessException("can't connect to " + data + ": " + e.getMessage(), e);
    }
  }

  /**
   * Makes one round trip, by polling.
   *
   * @return nanoseconds
   */
  long roundTripNs() {
    Message.putHeader(
        sendMemory,
        0,
        Message.RESOLVE,
        0,
        REQUEST_BYTES,
        ++requestId,
        welcome.clientId(),
        welcome.connectionEpoch());
    Message.putInt(sendMemory, Message.RESOLVE_KEY_LENGTH, KEY_BYTES);
    Message.putInt(sendMemory, Message.RESOLVE_KEY_LENGTH + 4, 0);
    Message.putLong(sendMemory, Message.RESOLVE_KEY, -1);
    require(queuePair.postReceive(RECEIVE_ID, receive, 0, Protocol.MESSAGE_BYTES_MAX));
    long startNs = System.nanoTime();
    require(queuePair.post(request));
    await();
    return System.nanoTime() - startNs;
  }

  private void await() {
    arrived = false;
    poller.reset();
    while (true) {
      int work = queuePair.poll(handler, 8);
      if (failedStatus != Status.SUCCESS) {
        throw new ProcessException("request failed: " + Status.name(failedStatus));
      }
      if (arrived) {
        return;
      }
      if (!poller.mayPoll(work)) {
        throw new ProcessException("no answer within " + TIMEOUT.toSeconds() + " s");
      }
    }
  }

  private void completed(long wrId, int opcode, int status, int byteLength, int imm) {
    if (status != Status.SUCCESS || opcode == Opcode.DISCONNECT) {
      failedStatus = status == Status.SUCCESS ? Status.FLUSHED : status;
    } else if (opcode == Opcode.RECEIVE || opcode == Opcode.CONNECT) {
      arrived = true;
    }
  }

  private static void require(boolean posted) {
    if (!posted) {
      throw new ProcessException("the queue is full");
    }
  }

  @Override
  public void close() {
    queuePair.close();
    device.deregister(request.local);
    device.deregister(receive);
    device.close();
    arena.close();
  }
}
