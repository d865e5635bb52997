package io.erda.eval.baselines;

import io.erda.logstore.ObjectLayout;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.Survives;
import io.erda.rdma.Access;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Device;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * The server of either baseline: a state machine that {@link #doWork()} advances. It blocks only
 * for drains. One thread. Owns its store and listeners, borrows directory and devices.
 *
 * <p>The requests of one step are answered together: their records are drained together. Applying
 * comes after the answers.
 */
public final class BaselineServer implements AutoCloseable {
  private static final long ACCEPT_NS = 50_000;

  /**
   * A client that was given a place and does not write there loses its connection after this time.
   */
  private static final long GIVEN_NS_MAX = 1_000_000_000L;

  /** The longest sleep. */
  private static final long SLEEP_NS_MAX = 1_000_000_000L;

  private static final long SLEEP_AWAITING_NS_MAX = 1_000_000;

  private final BaselineKind kind;
  private final BaselineStore store;
  private final LongSupplier nanoTime;

  /** Whether visible stores are as durable as the store is. */
  private final boolean readsPersist;

  private final List<Port> ports = new ArrayList<>();
  private final List<BaselineConnection> connections = new ArrayList<>();
  private long nextAcceptNs = Long.MIN_VALUE;

  /** A device on which the store is served, and the log as its clients access it. */
  private record Port(Device device, Listener listener, MemoryRegion log, boolean flushesPersist) {}

  private BaselineServer(BaselineKind kind, BaselineStore store, LongSupplier nanoTime) {
    this.kind = kind;
    this.store = store;
    this.nanoTime = nanoTime;
    this.readsPersist =
        store.logMemory().survives() != Survives.POWER_FAILURE
            || !store.logMemory().visibleBeforeDurable();
    store.noStrangers(() -> ports.stream().mapToInt(port -> port.device.strangers()).sum() == 0);
  }

  /**
   * Opens or makes a store and recovers it. {@link #listen} makes it reachable. REQUIRES: clients
   * of earlier servers are fenced; over shared memory opening the device does that.
   *
   * @param directory whose lock the caller holds
   * @param geometry of a new store
   * @param lagBytes of the log that may stay unapplied; 0: everything is applied when idle
   */
  public static BaselineServer open(
      BaselineKind kind,
      MemoryDirectory directory,
      BaselineGeometry geometry,
      long lagBytes,
      LongSupplier nanoTime,
      RandomGenerator random)
      throws IOException {
    return new BaselineServer(
        kind, BaselineStore.open(directory, geometry, kind, lagBytes, random), nanoTime);
  }

  /**
   * Serves the store on a device.
   *
   * @param flushesPersist whether a FLUSH of this device's clients reaches the persistence domain:
   *     not without persistent memory, and not when the NIC stores into the cache (DDIO) of a
   *     machine whose caches are lost with the power
   */
  public void listen(Device device, Listener listener, boolean flushesPersist) {
    int access = Access.REMOTE_READ | (device.limitsWrites() ? 0 : Access.REMOTE_WRITE);
    MemoryRegion log =
        kind == BaselineKind.READ_AFTER_WRITE ? device.register(store.logMemory(), access) : null;
    ports.add(new Port(device, listener, log, flushesPersist));
  }

  /** Takes one step. Returns 0 when there was nothing to do. */
  public int doWork() {
    long nowNs = nanoTime.getAsLong();
    int work = 0;
    if (nowNs >= nextAcceptNs) {
      nextAcceptNs = nowNs + ACCEPT_NS;
      work += accept();
    }
    for (int i = 0; i < connections.size(); i++) {
      work += connections.get(i).poll();
    }
    work += look(nowNs);
    for (int i = 0; i < connections.size(); i++) {
      append(connections.get(i), nowNs);
    }
    store.drain();
    for (int i = 0; i < connections.size(); i++) {
      answer(connections.get(i));
    }
    closeGone();
    return work + store.apply();
  }

  // Connections.

  private int accept() {
    int accepted = 0;
    for (Port port : ports) {
      for (ConnectionRequest request = port.listener.poll();
          request != null;
          request = port.listener.poll()) {
        accepted++;
        MemorySegment hello = request.privateData();
        if (hello.byteSize() != BaselineMessage.HELLO_BYTES
            || BaselineMessage.getLong(hello, 0) != BaselineMessage.MAGIC
            || BaselineMessage.getLong(hello, 8) != kind.ordinal()) {
          request.reject(MemorySegment.ofArray(new byte[0]));
        } else {
          connections.add(
              new BaselineConnection(port.device, port.log, request.accept(welcome(port))));
        }
      }
    }
    return accepted;
  }

  private MemorySegment welcome(Port port) {
    MemorySegment welcome = MemorySegment.ofArray(new byte[BaselineMessage.WELCOME_BYTES]);
    BaselineMessage.putLong(welcome, 0, BaselineMessage.MAGIC);
    BaselineMessage.putLong(welcome, 8, port.log == null ? 0 : port.log.remoteKey());
    BaselineMessage.putLong(welcome, 16, RedoLog.RING_AT);
    BaselineMessage.putLong(welcome, 24, store.log().ringBytes());
    BaselineMessage.putInt(welcome, 32, store.objectBytesMax());
    BaselineMessage.putInt(welcome, 36, persisting(port));
    return welcome;
  }

  private int persisting(Port port) {
    if (readsPersist) {
      return BaselineMessage.BY_READ;
    }
    return port.flushesPersist ? BaselineMessage.BY_FLUSH : BaselineMessage.BY_MESSAGE;
  }

  private void closeGone() {
    for (int i = connections.size() - 1; i >= 0; i--) {
      BaselineConnection connection = connections.get(i);
      if (connection.gone()) {
        connections.remove(i);
        // Fenced first: a record that is not whole then was not acknowledged and never will be.
        connection.close();
        connection.places.forEach(store::giveUp);
      }
    }
  }

  // Requests.

  private int look(long nowNs) {
    int seen = store.look();
    if (!store.awaited().isEmpty() && nowNs - store.awaited().getFirst().givenNs > GIVEN_NS_MAX) {
      Place late = store.awaited().getFirst();
      connections.stream()
          .filter(connection -> connection.places.contains(late))
          .forEach(BaselineConnection::giveUp);
    }
    return seen;
  }

  /** Appends a request's record to the log. */
  private void append(BaselineConnection connection, long nowNs) {
    if (!connection.hasRequest()) {
      return;
    }
    switch (BaselineMessage.type(connection.buffers(), connection.request())) {
      case BaselineMessage.PUT -> put(connection, nowNs);
      case BaselineMessage.DELETE -> delete(connection, nowNs);
      case BaselineMessage.RESERVE -> reserve(connection, nowNs);
      default -> {
        // Other requests append nothing.
      }
    }
  }

  private void put(BaselineConnection connection, long nowNs) {
    int bytes = objectBytes(connection);
    boolean tombstone =
        bytes > 0 && ObjectLayout.tombstone(connection.buffers(), object(connection));
    if (bytes == 0 || tombstone || kind != BaselineKind.REDO_LOGGING) {
      connection.respond(BaselineMessage.BAD_REQUEST, BaselineMessage.HEADER_BYTES);
    } else {
      Place place = store.hasRoomForPut() ? store.reserve(bytes, nowNs) : null;
      result(connection, place == null ? BaselineMessage.FULL : BaselineMessage.OK);
      if (place != null) {
        store.append(place, connection.buffers(), connection.checksum, object(connection));
      }
    }
  }

  private void delete(BaselineConnection connection, long nowNs) {
    int bytes = objectBytes(connection);
    if (bytes == 0 || !ObjectLayout.tombstone(connection.buffers(), object(connection))) {
      connection.respond(BaselineMessage.BAD_REQUEST, BaselineMessage.HEADER_BYTES);
    } else if (!locate(connection)) {
      result(connection, BaselineMessage.ABSENT);
    } else {
      Place place = store.reserve(bytes, nowNs);
      result(connection, place == null ? BaselineMessage.FULL : BaselineMessage.OK);
      if (place != null) {
        store.append(place, connection.buffers(), connection.checksum, object(connection));
      }
    }
  }

  private void reserve(BaselineConnection connection, long nowNs) {
    MemorySegment memory = connection.buffers();
    long asked = BaselineMessage.getLong(memory, connection.request() + 16);
    if (kind != BaselineKind.READ_AFTER_WRITE
        || connection.received() != BaselineMessage.RESERVE_BYTES
        || asked < ObjectLayout.BYTES_MIN
        || asked > store.objectBytesMax()) {
      connection.respond(BaselineMessage.BAD_REQUEST, BaselineMessage.HEADER_BYTES);
      return;
    }
    Place place = store.hasRoomForPut() ? store.reserve((int) asked, nowNs) : null;
    if (place == null) {
      connection.respond(BaselineMessage.FULL, BaselineMessage.HEADER_BYTES);
      return;
    }
    store.await(place);
    forgetDecided(connection);
    connection.places.add(place);
    place.grantedKey =
        connection.queuePair.grant(
            connection.log(),
            store.log().offset(place.position),
            RedoLog.POSITION_BYTES + place.objectBytes);
    BaselineMessage.putLong(memory, connection.response() + 16, place.position);
    BaselineMessage.putLong(memory, connection.response() + 24, place.grantedKey);
    connection.respond(BaselineMessage.OK, BaselineMessage.RESERVED_BYTES);
  }

  /** Revokes a place that has been decided: the client may not WRITE there any more. */
  private static void forgetDecided(BaselineConnection connection) {
    for (int i = connection.places.size() - 1; i >= 0; i--) {
      if (connection.places.get(i).state != Place.State.GIVEN) {
        connection.queuePair.revoke(connection.places.remove(i).grantedKey);
      }
    }
  }

  /** Answers the remaining requests, from durable state. */
  private void answer(BaselineConnection connection) {
    if (!connection.hasRequest()) {
      return;
    }
    switch (BaselineMessage.type(connection.buffers(), connection.request())) {
      case BaselineMessage.GET -> get(connection);
      case BaselineMessage.PUT, BaselineMessage.DELETE ->
          connection.respond(connection.result, BaselineMessage.HEADER_BYTES);
      case BaselineMessage.PERSIST -> persist(connection);
      default -> connection.respond(BaselineMessage.BAD_REQUEST, BaselineMessage.HEADER_BYTES);
    }
  }

  private void get(BaselineConnection connection) {
    if (objectBytes(connection) == 0) {
      connection.respond(BaselineMessage.BAD_REQUEST, BaselineMessage.HEADER_BYTES);
    } else if (!locate(connection)) {
      connection.respond(BaselineMessage.ABSENT, BaselineMessage.HEADER_BYTES);
    } else {
      int length = store.foundLength();
      MemorySegment.copy(
          store.foundMemory(),
          store.foundAt(),
          connection.buffers(),
          connection.response() + BaselineMessage.HEADER_BYTES,
          length);
      connection.respond(BaselineMessage.OK, BaselineMessage.HEADER_BYTES + length);
    }
  }

  /** Answers a PERSIST. All places were checked, and the records found are drained. */
  private void persist(BaselineConnection connection) {
    long position = BaselineMessage.getLong(connection.buffers(), connection.request() + 16);
    boolean seen = false;
    for (Place place : connection.places) {
      seen |= place.position == position && place.state == Place.State.SEEN;
    }
    connection.respond(
        seen ? BaselineMessage.OK : BaselineMessage.NOT_THERE, BaselineMessage.HEADER_BYTES);
  }

  private static void result(BaselineConnection connection, int result) {
    connection.result = result;
  }

  private boolean locate(BaselineConnection connection) {
    MemorySegment memory = connection.buffers();
    long object = object(connection);
    return store.locate(
        memory, object + ObjectLayout.KEY_OFFSET, ObjectLayout.keyLength(memory, object));
  }

  private static long object(BaselineConnection connection) {
    return connection.request() + BaselineMessage.OBJECT_AT;
  }

  /** Bytes of the object in a request, or 0 when there is none that the store accepts. */
  private int objectBytes(BaselineConnection connection) {
    int bytes =
        BaselineMessage.objectBytes(
            connection.buffers(), connection.request(), connection.received());
    return bytes > store.objectBytesMax() ? 0 : bytes;
  }

  // Sleeping and ending.

  /**
   * Prepares to sleep. Returns false when there may be something to do. After true, sleep on the
   * device, then call {@link #doWork()}.
   */
  public boolean arm() {
    nextAcceptNs = Long.MIN_VALUE;
    boolean armed = true;
    for (BaselineConnection connection : connections) {
      armed &= connection.queuePair.arm();
    }
    return armed;
  }

  /** How long to sleep at most while no client sends anything, nanoseconds. */
  public long sleepNsMax() {
    return store.awaited().isEmpty() ? SLEEP_NS_MAX : SLEEP_AWAITING_NS_MAX;
  }

  /** Number of keys with a value, once all records are applied. */
  public long size() {
    return store.size();
  }

  /** Number of places that clients were given and have not written to. */
  int awaited() {
    return store.awaited().size();
  }

  /** Releases the resources of a server whose process counts as ended. */
  public void abandon() {
    closeConnections();
    store.release();
  }

  private void closeConnections() {
    for (BaselineConnection connection : connections) {
      connection.close();
    }
    for (Port port : ports) {
      port.listener.close();
      if (port.log != null) {
        port.device.deregister(port.log);
      }
    }
  }

  /** Ends every connection, applies the acknowledged records, and closes the store. */
  @Override
  public void close() {
    closeConnections();
    connections.forEach(connection -> connection.places.forEach(store::giveUp));
    connections.clear();
    store.close();
  }
}
