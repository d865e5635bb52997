package io.erda.simulation.system;

import io.erda.pmem.Backing;
import io.erda.protocol.Handshake;
import io.erda.protocol.Message;
import io.erda.protocol.Protocol;
import io.erda.rdma.Access;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import io.erda.simulation.SimulatedDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * A peer that connects as a client does, sends requests whose bodies are garbage and takes no
 * answer, then bytes that are no request at all. The server has to end the connection, over which
 * later stores must not land.
 */
final class GarbageSender implements CompletionHandler, AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofMillis(50);
  private static final int COMPLETIONS_MAX = 16;
  private static final int REQUESTS_MAX = 8;

  /** The number of types that are sent: 0, every one of the protocol, and an unknown one. */
  private static final int TYPES = Message.TYPE_MAX + 2;

  final SimulatedDevice device;
  private final RandomGenerator random;
  private final Arena arena = Arena.ofConfined();
  private final MemoryRegion memory;
  private final Work request = Work.send().signaled();
  private final QueuePair queuePair;
  private Handshake.Welcome welcome;
  private int requestsLeft;
  private Runnable onEnd = () -> {};
  private boolean ended;

  GarbageSender(SimulatedDevice device, String address, RandomGenerator random) {
    this.device = device;
    this.random = random;
    requestsLeft = random.nextInt(REQUESTS_MAX);
    MemorySegment bytes = arena.allocate((long) (requestsLeft + 1) * Protocol.MESSAGE_BYTES_MAX, 8);
    memory = device.register(bytes, Backing.none(bytes.byteSize()), Access.LOCAL);
    Handshake.Hello hello =
        new Handshake.Hello(Protocol.VERSION, Protocol.LAYOUT_VERSION, null, 1, null);
    queuePair = device.connect(address, Handshake.encode(hello), TIMEOUT);
  }

  /** Sets a listener that is called when its connection has ended, or could not be made. */
  void onEnd(Runnable listener) {
    onEnd = listener;
  }

  /** Takes one step. Returns 0 when there was nothing to do. */
  int doWork() {
    int work = queuePair.poll(this, COMPLETIONS_MAX);
    if (ended) {
      onEnd.run();
      return work;
    }
    if (welcome != null && requestsLeft >= 0) {
      send(requestsLeft == 0 ? 0 : random.nextInt(TYPES));
      work++;
    }
    return work;
  }

  /**
   * @param type of the request, or 0 for one that names no connection
   */
  private void send(int type) {
    long at = (long) requestsLeft * Protocol.MESSAGE_BYTES_MAX;
    int length = random.nextInt(Message.HEADER_BYTES, Protocol.MESSAGE_BYTES_MAX + 1);
    if (random.nextBoolean()) {
      // About the length of real requests.
      length = 8 * random.nextInt(Message.HEADER_BYTES / 8, 8);
    }
    byte[] garbage = new byte[length];
    random.nextBytes(garbage);
    MemorySegment.copy(garbage, 0, memory.memory(), ValueLayout.JAVA_BYTE, at, length);
    Message.putHeader(
        memory.memory(),
        at,
        type,
        0,
        length,
        requestsLeft,
        type == 0 ? ~welcome.clientId() : welcome.clientId(),
        welcome.connectionEpoch());
    if (queuePair.post(request.id(requestsLeft).local(memory, at, length))) {
      requestsLeft--;
    }
  }

  @Override
  public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
    if (opcode == Opcode.CONNECT && status == Status.SUCCESS) {
      welcome = Handshake.decodeWelcome(queuePair.privateData());
    } else {
      ended |= opcode == Opcode.DISCONNECT || status != Status.SUCCESS;
    }
  }

  @Override
  public void close() {
    queuePair.close();
    device.deregister(memory);
    arena.close();
  }
}
