package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.ValueHash;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.ObjectWriter;
import io.erda.pmem.Backing;
import io.erda.protocol.Handshake;
import io.erda.protocol.Message;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import io.erda.server.engine.service.ServerCore;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;

/**
 * A peer that sends the messages that a test wants, valid or not, and steps the server while it
 * waits.
 */
public final class RawClient {
  private static final int SLOTS = 16;
  private static final int SLOT_BYTES = Protocol.MESSAGE_BYTES_MAX;

  /** Enough for an answer that comes over a socket. */
  private static final int TURNS_MAX = 3_000_000;

  public final QueuePair queuePair;
  public final MemoryRegion memory;
  private final ServerCore core;
  private final ArrayDeque<Integer> received = new ArrayDeque<>();
  private int connectStatus = -1;
  public boolean disconnected;

  /** How the WRITE ended that failed last; {@link Status#SUCCESS} before the first. */
  int writeStatus = Status.SUCCESS;

  private long nextRequest = 1;

  public RawClient(ServerCore core, Device device, String address, MemorySegment hello) {
    this.core = core;
    MemorySegment buffers = Arena.ofAuto().allocate((SLOTS + 1L) * SLOT_BYTES + (1 << 16), 64);
    this.memory = device.register(buffers, Backing.none(buffers.byteSize()), Access.LOCAL);
    this.queuePair = device.connect(address, hello, Duration.ofSeconds(5));
    for (int slot = 0; slot < SLOTS; slot++) {
      queuePair.postReceive(slot, memory, (long) slot * SLOT_BYTES, SLOT_BYTES);
    }
    for (int turn = 0; turn < TURNS_MAX && connectStatus < 0; turn++) {
      step();
    }
  }

  public static MemorySegment hello() {
    return Handshake.encode(
        new Handshake.Hello(Protocol.VERSION, Protocol.LAYOUT_VERSION, null, 1, null));
  }

  public boolean connected() {
    return connectStatus == Status.SUCCESS;
  }

  public Handshake.Welcome welcome() {
    return Handshake.decodeWelcome(queuePair.privateData());
  }

  public Handshake.Refusal refusal() {
    return Handshake.decodeRefusal(queuePair.privateData());
  }

  public void step() {
    core.doWork();
    poll();
  }

  /** Takes what has come, without a step of the server. */
  void poll() {
    queuePair.poll(
        (wrId, opcode, status, byteLength, imm) -> {
          if (opcode == Opcode.CONNECT) {
            connectStatus = status;
          } else if (opcode == Opcode.DISCONNECT) {
            disconnected = true;
          } else if (opcode == Opcode.RECEIVE && status == Status.SUCCESS) {
            received.add((int) wrId);
          } else if (opcode == Opcode.WRITE) {
            writeStatus = status;
          }
        },
        16);
  }

  /** Where a request is built: header at 0. */
  public MemorySegment request() {
    return memory.memory().asSlice((long) SLOTS * SLOT_BYTES, SLOT_BYTES);
  }

  /** Sends what {@link #request} holds, as it is. */
  public void sendRaw(int length) {
    assertTrue(queuePair.post(Work.send().local(memory, (long) SLOTS * SLOT_BYTES, length)));
  }

  /** Puts the right header before the request's body, sends it, and returns the response. */
  public MemorySegment ask(int type, int length) {
    send(type, length);
    return response();
  }

  public void send(int type, int length) {
    Message.putHeader(
        request(),
        0,
        type,
        0,
        length,
        nextRequest++,
        welcome().clientId(),
        welcome().connectionEpoch());
    sendRaw(length);
  }

  /** Whether an answer is there that was not taken. */
  public boolean isAnswered() {
    return !received.isEmpty();
  }

  /** Takes the answer that is there, and has the server do nothing. */
  void takeAnswer() {
    int slot = received.remove();
    queuePair.postReceive(slot, memory, (long) slot * SLOT_BYTES, SLOT_BYTES);
  }

  /** The next response, or null when the connection ended instead. */
  public MemorySegment response() {
    for (int turn = 0; turn < TURNS_MAX && received.isEmpty() && !disconnected; turn++) {
      step();
    }
    if (received.isEmpty()) {
      return null;
    }
    int slot = received.poll();
    MemorySegment response = Arena.ofAuto().allocate(SLOT_BYTES, 8);
    MemorySegment.copy(memory.memory(), (long) slot * SLOT_BYTES, response, 0, SLOT_BYTES);
    queuePair.postReceive(slot, memory, (long) slot * SLOT_BYTES, SLOT_BYTES);
    return response;
  }

  /** An extent as the server granted it. */
  public record Leased(
      int result,
      long reservation,
      int head,
      int regionIndex,
      int generation,
      long place,
      int length,
      long key) {}

  public Leased lease(int head, int bytes) {
    Message.putInt(request(), Message.LEASE_HEAD, head);
    Message.putInt(request(), Message.LEASE_BYTES_MIN, bytes);
    MemorySegment response = ask(Message.LEASE, Message.LEASE_REQUEST_BYTES);
    return new Leased(
        Message.result(response, 0),
        Message.getLong(response, Message.LEASED_RESERVATION),
        head,
        Message.getInt(response, Message.LEASED_REGION_INDEX),
        Message.getInt(response, Message.LEASED_GENERATION),
        Message.getLong(response, Message.LEASED_PLACE),
        (int) Message.getLong(response, Message.LEASED_LENGTH),
        Message.getLong(response, Message.LEASED_KEY));
  }

  public LogGeometry geometry() {
    return new LogGeometry(
        welcome().heads(), welcome().regionBytes(), welcome().segmentBytes(), 1024);
  }

  /** WRITEs an object at a place of an extent. Returns its bytes. */
  public int write(Leased leased, long place, byte[] key, byte[] value, long regionKey) {
    int offset = geometry().offset(leased.regionIndex, place);
    int bytes = ObjectLayout.bytes(key.length, value == null ? 0 : value.length);
    long at = (SLOTS + 1L) * SLOT_BYTES;
    new ObjectWriter(memory.memory().asSlice(at, 1 << 16))
        .write(
            0,
            MemorySegment.ofArray(key),
            0,
            key.length,
            MemorySegment.ofArray(value == null ? new byte[0] : value),
            0,
            value == null ? 0 : value.length,
            value == null,
            ObjectChecksum.positionMix(leased.head, leased.generation, offset));
    assertTrue(
        queuePair.post(
            Work.write()
                .id(1)
                .local(memory, at, ObjectLayout.padded(bytes))
                .remote(regionKey, place)));
    return bytes;
  }

  public int publish(Leased leased, long place, int bytes, int flags) {
    putPublish(leased, place, bytes, flags);
    MemorySegment response = ask(Message.PUBLISH, Message.PUBLISH_REQUEST_BYTES);
    return Message.result(response, 0);
  }

  /** Sends a request to publish and does not wait for its answer. */
  void publishLater(Leased leased, long place, int bytes, int flags) {
    putPublish(leased, place, bytes, flags);
    send(Message.PUBLISH, Message.PUBLISH_REQUEST_BYTES);
  }

  /** Sends a request to delete a key without space, and does not wait for its answer. */
  void eraseLater(byte[] key) {
    Message.putInt(request(), Message.ERASE_KEY_LENGTH, key.length);
    MemorySegment.copy(key, 0, request(), ValueLayout.JAVA_BYTE, Message.ERASE_KEY, key.length);
    send(Message.ERASE, Message.ERASE_KEY + key.length);
  }

  /** Builds a request to publish, without a value that is expected. */
  public void putPublish(Leased leased, long place, int bytes, int flags) {
    Message.putLong(request(), Message.PUBLISH_RESERVATION, leased.reservation);
    Message.putInt(request(), Message.PUBLISH_OFFSET, geometry().offset(leased.regionIndex, place));
    Message.putInt(request(), Message.PUBLISH_OBJECT_BYTES, bytes);
    Message.putInt(request(), Message.PUBLISH_HEAD, leased.head);
    Message.putInt(request(), Message.PUBLISH_FLAGS, flags);
  }

  /** Announces an object that is to be written. Returns the response. */
  public MemorySegment announce(Leased leased, long place, byte[] key, int bytes, int flags) {
    return ask(Message.ANNOUNCE, buildAnnouncement(leased, place, key, bytes, flags));
  }

  /** Sends an announcement and does not wait for its answer. */
  public void announceLater(Leased leased, long place, byte[] key, int bytes, int flags) {
    send(Message.ANNOUNCE, buildAnnouncement(leased, place, key, bytes, flags));
  }

  /**
   * Announces an object on a condition. Returns the response.
   *
   * @param expected counts with {@link Message#FLAG_IF_EQUAL} alone
   */
  public MemorySegment announceIf(
      Leased leased, long place, byte[] key, int bytes, int flags, MemorySegment expected) {
    announceIfLater(leased, place, key, bytes, flags, expected);
    return response();
  }

  /** Announces without waiting for the answer. */
  public void announceIfLater(
      Leased leased, long place, byte[] key, int bytes, int flags, MemorySegment expected) {
    int length = buildAnnouncement(leased, place, key, bytes, flags);
    if ((flags & Message.FLAG_IF_EQUAL) != 0) {
      ValueHash hash = new ValueHash();
      hash.compute(expected, 0, (int) expected.byteSize());
      long at = Message.ANNOUNCE_EXPECTED_LENGTH;
      Message.putLong(request(), at, expected.byteSize());
      Message.putLong(request(), at + Message.EXPECTED_HASH, hash.low());
      Message.putLong(request(), at + Message.EXPECTED_HASH + 8, hash.high());
      int keyAt = Message.ANNOUNCE_IF_EQUAL_KEY;
      MemorySegment.copy(key, 0, request(), ValueLayout.JAVA_BYTE, keyAt, key.length);
      length = keyAt + key.length;
    }
    send(Message.ANNOUNCE, length);
  }

  private int buildAnnouncement(Leased leased, long place, byte[] key, int bytes, int flags) {
    Message.putLong(request(), Message.ANNOUNCE_RESERVATION, leased.reservation);
    Message.putInt(
        request(), Message.ANNOUNCE_OFFSET, geometry().offset(leased.regionIndex, place));
    Message.putInt(request(), Message.ANNOUNCE_OBJECT_BYTES, bytes);
    Message.putInt(request(), Message.ANNOUNCE_HEAD, leased.head);
    Message.putInt(request(), Message.ANNOUNCE_FLAGS, flags);
    Message.putInt(request(), Message.ANNOUNCE_KEY_LENGTH, key.length);
    Message.putInt(request(), Message.ANNOUNCE_KEY_LENGTH + 4, 0);
    MemorySegment.copy(key, 0, request(), ValueLayout.JAVA_BYTE, Message.ANNOUNCE_KEY, key.length);
    return Message.ANNOUNCE_KEY + key.length;
  }

  /** Remote key of a region, from the map. */
  public long regionKey(Leased leased) {
    Message.putLong(request(), Message.MAP_FROM, 0);
    MemorySegment map = ask(Message.MAP, Message.MAP_REQUEST_BYTES);
    assertEquals(Result.OK, Message.result(map, 0));
    for (int i = 0; i < Message.getInt(map, Message.MAPPED_COUNT); i++) {
      long record = Message.MAPPED_RECORDS + (long) i * Message.RECORD_BYTES;
      if (Message.getInt(map, record + Message.RECORD_HEAD) == leased.head
          && Message.getInt(map, record + Message.RECORD_INDEX) == leased.regionIndex) {
        return Message.getLong(map, record + Message.RECORD_KEY);
      }
    }
    throw new AssertionError("no region for " + leased);
  }
}
