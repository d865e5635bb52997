package io.erda.server.engine;

import io.erda.cleaner.Cleaner;
import io.erda.cleaner.Entries;
import io.erda.hashtable.HashTable;
import io.erda.logstore.Extent;
import io.erda.logstore.LeaseResult;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.pmem.FaultPoint;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.Handshake;
import io.erda.protocol.Message;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Listener;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

/**
 * The KV service over one store: connections, requests, reservations. A state machine that {@link
 * #doWork()} advances; it never blocks and never looks at another clock. One thread. Owns the
 * engine and its listeners, borrows the devices.
 *
 * <p>Gets never come here: clients read one-sided (rule 9). Puts and deletes that arrive in one
 * step are published as one batch.
 */
public final class ServerCore implements AutoCloseable {
  private static final int BATCH_MAX = 64;

  /** After so long without a publication an extent ends while too many bytes are open. */
  private static final long SCARCE_IDLE_NS = 100_000_000L;

  private static final long HOUSEKEEPING_NS = 1_000_000;

  /** After so many steps in which clients want something, housekeeping that is due is done too. */
  private static final int PUT_OFF_MAX = 4;

  private static final long ACCEPT_NS = 50_000;
  private static final int REGION_FIGURES_MAX = 256;

  /** Files for regions to come are given back when nothing was leased for so long. */
  private static final long SPARES_IDLE_NS = 10_000_000_000L;

  /** Where there was no room for a file, nobody who needs none looks again so soon. */
  private static final long PREPARE_AGAIN_NS = 1_000_000_000L;

  private static final long DISK_LOOK_NS = 1_000_000_000L;

  /** Idle reservations are looked after at least this often. */
  private static final long SLEEP_NS_MAX = 1_000_000_000L;

  /** The same while somebody waits for space, which other threads give back. */
  private static final long SLEEP_WAITED_FOR_NS_MAX = 1_000_000;

  /** Steps of a cleaning while no client wants anything. */
  private static final int CLEANER_STEPS = 64;

  /** How long after a request a client is thought to want more. */
  private static final long BUSY_NS = 100_000;

  private final StoreEngine engine;
  private final ServerLimits limits;
  private final LongSupplier nanoTime;
  private final List<Port> ports = new ArrayList<>();

  /** Devices that the store is not served on, where clients of earlier servers may live. */
  private final List<Device> abandoned = new ArrayList<>();

  private final List<Connection> connections = new ArrayList<>();
  private final MessageBuffers buffers = new MessageBuffers(Connection.BUFFER_BYTES);
  private final PublishRequest[] batch = new PublishRequest[BATCH_MAX];

  /** By place in the batch: who is answered, and in which message slot. */
  private final Connection[] askers = new Connection[BATCH_MAX];

  private final int[] slots = new int[BATCH_MAX];
  private final Map<String, LongSupplier> figures = new LinkedHashMap<>();
  private final Cleaner cleaner;
  private final Departures departures;
  private final LeaseQueue waitingLeases = new LeaseQueue();

  private int batchCount;
  private int nextClientId = 1;
  private long nextReservation;
  private long nextAcceptNs = Long.MIN_VALUE;
  private long nextHousekeepingNs;
  private int putOff;
  private long requests;
  private long lastRequestNs = Long.MIN_VALUE / 2;
  private long failuresSeen;

  /** Whether files that have no name any more may still take disk space. */
  private boolean releasing;

  /** Whether there is disk space again that nobody has tried to use yet. */
  private boolean spaceCame;

  private long refusedConnections;
  private long refusedForSpace;
  private long excessEnded;
  private final ReadOnlyState readOnly;
  private final FaultPoint faults = new FaultPoint();
  private FileWork fileWork = FileWork.AT_ONCE;

  /** By slot: the first epoch whose map named the region there; 0 when an earlier server's did. */
  private final long[] linkedAt;

  private long nextPrepareNs;
  private long nextTrimNs;
  private long nextDiskLookNs;

  /** Serves an opened store; {@link #listen} makes it reachable. */
  public ServerCore(StoreEngine engine, ServerLimits limits, LongSupplier nanoTime) {
    this(engine, limits, nanoTime, UnaryOperator.identity());
  }

  /**
   * As the other one.
   *
   * @param overEntries wraps what the cleaner sees of the table: where a deliberate defect comes in
   */
  public ServerCore(
      StoreEngine engine,
      ServerLimits limits,
      LongSupplier nanoTime,
      UnaryOperator<Entries> overEntries) {
    this.engine = engine;
    this.limits = limits;
    this.nanoTime = nanoTime;
    this.readOnly = new ReadOnlyState(engine);
    engine.beginIncarnation();
    this.linkedAt = new long[engine.log().geometry().regionsMax()];
    this.departures = new Departures(engine.log(), this::strangers, this::release);
    engine.log().makeAhead(creation -> fileWork.creating(creation));
    this.nextPrepareNs = nanoTime.getAsLong();
    this.nextDiskLookNs = nextPrepareNs;
    this.nextTrimNs = nextPrepareNs + SPARES_IDLE_NS;
    this.nextReservation = engine.root().incarnation() << 40;
    for (int i = 0; i < BATCH_MAX; i++) {
      batch[i] = new PublishRequest();
    }
    this.cleaner =
        new Cleaner(
            engine.log(),
            overEntries.apply(engine.entries()),
            engine.live(),
            this::endReservations,
            limits.cleaning());
    cleaner.onCleaning(new CleaningRecorder());
    engine
        .log()
        .onLink(
            new LogStore.LinkListener() {
              @Override
              public void linked(Region region) {
                ServerCore.this.linked(region);
              }

              @Override
              public void retired(Region region) {
                ServerCore.this.retired(region);
              }
            });
    engine.growth().onChange(new TableRegistration());
    addFigures();
  }

  /** Serves the store on a device. */
  public void listen(Device device, Listener listener) {
    ports.add(new Port(device, listener, engine));
  }

  /** Counts the strangers of a device that the store is not served on, too. Borrows the device. */
  public void countStrangersOf(Device device) {
    abandoned.add(device);
  }

  public StoreEngine engine() {
    return engine;
  }

  public Cleaner cleaner() {
    return cleaner;
  }

  /** Adds a figure to what {@code stats} shows. */
  public void figure(String name, LongSupplier value) {
    figures.put(name, value);
  }

  /**
   * Sets who does what takes long with files; without, it is done at once. Before anything else.
   */
  public void fileWork(FileWork worker) {
    fileWork = worker;
  }

  /** One step. Returns 0 when there was nothing to do. */
  public int doWork() {
    try {
      int work = step();
      faults.surface();
      return work;
    } catch (InternalError e) {
      onFault(e);
      return 1;
    }
  }

  /** Mapped memory went away: a client's that took it away, or a file's of the store. */
  private void onFault(InternalError e) {
    if (!giveUpWhoseMemoryIsLost()) {
      readOnly.becauseOf(e);
    }
  }

  private boolean giveUpWhoseMemoryIsLost() {
    boolean any = false;
    for (Connection connection : connections) {
      if (connection.queuePair.isMemoryLost()) {
        connection.giveUp();
        any = true;
      }
    }
    return any;
  }

  private int step() {
    long nowNs = nanoTime.getAsLong();
    int work = 0;
    if (nowNs >= nextAcceptNs) {
      nextAcceptNs = nowNs + ACCEPT_NS;
      work += accept();
    }
    boolean anyGone = false;
    for (int i = 0; i < connections.size(); i++) {
      Connection connection = connections.get(i);
      work += connection.doWork();
      anyGone |= connection.gone();
    }
    publishBatch();
    work += grow(nowNs);
    if (anyGone) {
      connections.removeIf(this::closeIfGone);
    }
    // Who was just answered may wait for this core.
    if (nowNs >= nextHousekeepingNs && (work == 0 || ++putOff == PUT_OFF_MAX)) {
      putOff = 0;
      nextHousekeepingNs = nowNs + HOUSEKEEPING_NS;
      endIdleReservations(nowNs);
      tellAppends();
      tendFiles(nowNs);
    }
    return work + makeFiles() + clean(nowNs);
  }

  /** One step of making a file for another region. */
  private int makeFiles() {
    LogStore log = engine.log();
    if (!log.making()) {
      return 0;
    }
    int work = 0;
    long failures = log.spareFailures();
    try {
      work = log.doWork();
    } catch (UncheckedIOException | InternalError e) {
      readOnly.becauseOf(e);
    }
    if (log.making()) {
      return work;
    }
    // What was made may be the cleaner's.
    prepareForWaiting(failures);
    return work + answerWaiting();
  }

  private void prepareForWaiting(long failures) {
    LogStore log = engine.log();
    if (!readOnly.isSet() && log.spareFailures() == failures && !waitingLeases.isEmpty()) {
      try {
        log.prepareAhead(true);
      } catch (UncheckedIOException | InternalError e) {
        readOnly.becauseOf(e);
      }
    }
  }

  /** Files that regions left, and those of regions to come. */
  private void tendFiles(long nowNs) {
    if (readOnly.isSet()) {
      return;
    }
    LogStore log = engine.log();
    try {
      departures.doWork(nowNs);
      if (log.spareFailures() != failuresSeen) {
        failuresSeen = log.spareFailures();
        nextPrepareNs = nowNs + PREPARE_AGAIN_NS;
      }
      boolean stillReleasing = releasing && fileWork.releasing();
      spaceCame |= releasing && !stillReleasing;
      releasing = stillReleasing;
      if (spaceCame && !log.making()) {
        spaceCame = false;
        nextPrepareNs = nowNs;
      }
      if (nowNs - nextDiskLookNs >= 0) {
        nextDiskLookNs = nowNs + DISK_LOOK_NS;
        log.lookAtDisk();
      }
      if (nowNs - nextPrepareNs >= 0) {
        nextPrepareNs = nowNs;
        log.prepareAhead(!waitingLeases.isEmpty());
      }
      boolean idle = nowNs - nextTrimNs >= 0;
      if (idle) {
        nextTrimNs = nowNs + SPARES_IDLE_NS;
      }
      if (waitingLeases.isEmpty()) {
        trimSpares(idle);
      }
    } catch (UncheckedIOException | InternalError e) {
      readOnly.becauseOf(e);
    }
  }

  private void trimSpares(boolean whenIdle) {
    LogStore log = engine.log();
    for (PersistentMemory spare = log.trimSpares(whenIdle);
        spare != null;
        spare = log.trimSpares(false)) {
      release(spare);
    }
  }

  private void release(PersistentMemory memory) {
    fileWork.release(memory);
    releasing = true;
  }

  private int strangers() {
    int strangers = 0;
    for (Port port : ports) {
      strangers += port.device.strangers();
    }
    for (Device device : abandoned) {
      strangers += device.strangers();
    }
    return strangers;
  }

  /** For JFR: nothing is looked at unless somebody records. */
  private static final class CleaningRecorder implements Cleaner.Listener {
    private CleaningEvent event;

    @Override
    public void began(Region victim) {
      event = Events.begin(CleaningEvent::new);
    }

    @Override
    public void ended(Cleaner.Ended ended) {
      if (Events.wanted(event)) {
        event.head = ended.victim().head();
        event.region = ended.victim().index();
        event.generation = ended.victim().generation();
        event.freed = ended.freed();
        event.bytesLive = ended.bytesLive();
        event.bytesCopied = ended.bytesCopied();
        event.rounds = ended.rounds();
        event.commit();
      }
      event = null;
    }
  }

  /** One step of cleaning; whoever waits for space asks again when there is news. */
  private int clean(long nowNs) {
    if (readOnly.isSet()) {
      return answerWaiting();
    }
    long before = cleaner.cleanings() + cleaner.givenUp();
    int work = 0;
    // Who sends a request now waits for one step.
    int steps = nowNs - lastRequestNs < BUSY_NS ? 1 : CLEANER_STEPS;
    try {
      for (int step = 0; step < steps; step++) {
        work = cleaner.doWork(nowNs);
        if (work == 0 || !cleaner.working()) {
          break;
        }
      }
    } catch (UncheckedIOException | InternalError e) {
      readOnly.becauseOf(e);
    }
    boolean news = work == 0 || cleaner.cleanings() + cleaner.givenUp() != before;
    return work + (news ? answerWaiting() : 0);
  }

  private int answerWaiting() {
    if (waitingLeases.isEmpty()) {
      return 0;
    }
    List<LeaseQueue.Waiting> all = waitingLeases.takeAll();
    for (LeaseQueue.Waiting each : all) {
      lease(each);
    }
    return all.size() - waitingLeases.size();
  }

  /** How long may be slept while no client sends anything, nanoseconds. */
  public long sleepNsMax() {
    return waitingLeases.isEmpty() ? SLEEP_NS_MAX : SLEEP_WAITED_FOR_NS_MAX;
  }

  /** Ends every reservation in a region: what was not published there never will be. */
  private void endReservations(Region region) {
    engine.publication().settle();
    for (Connection connection : connections) {
      for (Reservation reservation : connection.reservations.takeIn(region)) {
        engine.log().end(reservation.extent);
      }
    }
  }

  /** The map is newer before a key is revoked: who is refused finds another map. */
  private void retired(Region region) {
    engine.root().nextEpoch();
    for (Port port : ports) {
      port.deregister(region);
    }
    recordRetired(region);
    // Who was told no map that names it has never reached it.
    List<Departures.Client> clients =
        connections.stream()
            .filter(each -> each.mapEpoch >= linkedAt[region.slot()])
            .map(each -> new Departures.Client(each.clientId, each.processId))
            .toList();
    departures.add(
        region,
        engine.root().epoch(),
        nanoTime.getAsLong() + limits.cleaning().leavingNs(),
        clients);
  }

  /**
   * Prepares to sleep: false when something may be there already. After true, sleep on the device,
   * then call {@link #doWork()}.
   */
  public boolean arm() {
    nextAcceptNs = Long.MIN_VALUE;
    boolean armed = true;
    for (int i = 0; i < connections.size(); i++) {
      armed &= connections.get(i).arm();
    }
    return armed;
  }

  /** Why writes are refused, or null. */
  public String readOnlyReason() {
    return readOnly.reason();
  }

  /** Sets who is told when and why the store takes no more puts and deletes. */
  public void onReadOnly(Consumer<String> listener) {
    readOnly.onReadOnly(listener);
  }

  private int accept() {
    int accepted = 0;
    for (Port port : ports) {
      for (ConnectionRequest request = port.listener.poll();
          request != null;
          request = port.listener.poll()) {
        decide(port, request);
        accepted++;
      }
    }
    return accepted;
  }

  private void decide(Port port, ConnectionRequest request) {
    Handshake.Refusal refusal = refusal(request.privateData(), request.user());
    if (refusal != null) {
      refusedConnections++;
      request.reject(Handshake.encode(refusal));
      return;
    }
    int clientId = nextClientId++;
    int connectionEpoch = (int) engine.root().incarnation();
    Handshake.Welcome welcome =
        new Handshake.Welcome(
            engine.storeId(),
            engine.root().incarnation(),
            port.root.remoteKey(),
            engine.superblock().hashSeed(),
            engine.superblock().geometry().regionBytes(),
            engine.superblock().geometry().segmentBytes(),
            engine.superblock().geometry().heads(),
            engine.promise(),
            0,
            clientId,
            connectionEpoch,
            engine.keyBytesMax(),
            engine.valueBytesMax(),
            Protocol.MESSAGE_BYTES_MAX,
            limits.pollingNs());
    connections.add(
        new Connection(
            this,
            port,
            request.accept(Handshake.encode(welcome)),
            clientId,
            connectionEpoch,
            Handshake.decodeHello(request.privateData()).processId(),
            request.user(),
            engine.superblock().geometry().heads(),
            buffers));
  }

  private Handshake.Refusal refusal(MemorySegment privateData, String user) {
    Handshake.Hello hello = Handshake.decodeHello(privateData);
    if (hello == null) {
      return new Handshake.Refusal(
          Handshake.Refusal.NOT_ERDA, "this is an Erda server; the peer sent no Erda hello");
    }
    if (hello.protocolVersion() != Protocol.VERSION
        || hello.layoutVersion() != Protocol.LAYOUT_VERSION) {
      return new Handshake.Refusal(
          Handshake.Refusal.VERSION,
          "server speaks protocol version %d, layout version %d; client speaks %d, %d"
              .formatted(
                  Protocol.VERSION,
                  Protocol.LAYOUT_VERSION,
                  hello.protocolVersion(),
                  hello.layoutVersion()));
    }
    if (hello.store() != null && !hello.store().equals(engine.storeId())) {
      return new Handshake.Refusal(
          Handshake.Refusal.STORE,
          "store is " + engine.storeId() + ", client wants " + hello.store());
    }
    Promise promise = engine.promise();
    if (hello.required() != null && hello.required().compareTo(promise) > 0) {
      return new Handshake.Refusal(
          Handshake.Refusal.PROMISE,
          "store promises " + promise + ", client requires " + hello.required());
    }
    if (connections.size() >= limits.connectionsMax() && !closeWhoLeft()) {
      recordExhausted("CONNECTIONS", 0, -1, 0);
      return new Handshake.Refusal(
          Handshake.Refusal.CONNECTIONS,
          "all " + limits.connectionsMax() + " connections are taken");
    }
    if (user != null && hasItsShare(user) && !(closeWhoLeft() && !hasItsShare(user))) {
      recordExhausted("CONNECTIONS", 0, -1, 0);
      return new Handshake.Refusal(
          Handshake.Refusal.CONNECTIONS,
          "user %s has all %d connections that a user other than the server's may have"
              .formatted(user, limits.connectionsPerUser()));
    }
    return null;
  }

  private boolean hasItsShare(String user) {
    int count = 0;
    for (Connection connection : connections) {
      count += user.equals(connection.user) ? 1 : 0;
    }
    return count >= limits.connectionsPerUser();
  }

  /**
   * Closes the connections of clients that left and were not noticed yet: one of them may be who
   * asks for a connection now. REQUIRES: no request is in the batch.
   *
   * @return whether there was any
   */
  private boolean closeWhoLeft() {
    for (Connection connection : connections) {
      if (!connection.isThere()) {
        connection.giveUp();
      }
    }
    return connections.removeIf(this::closeIfGone);
  }

  private boolean closeIfGone(Connection connection) {
    if (connection.gone()) {
      connection.reservations.takeAll().forEach(this::end);
      waitingLeases.gone(connection);
      connection.close();
      departures.gone(connection.clientId);
    }
    return connection.gone();
  }

  /** A step of the table's growth. */
  private int grow(long nowNs) {
    if (readOnly.isSet()) {
      return 0;
    }
    try {
      return engine.growth().doWork(nowNs);
    } catch (UncheckedIOException | InternalError e) {
      readOnly.becauseOf(e);
      return 0;
    }
  }

  private final class TableRegistration implements TableGrowth.Listener {
    @Override
    public void opened(Tables.Generation table) {
      ports.forEach(port -> port.register(table));
    }

    @Override
    public void retired(Tables.Generation table) {
      ports.forEach(port -> port.deregister(table));
    }
  }

  /**
   * Ends an extent. Where what was published in it can't be made durable it stays open, so that the
   * next recovery looks there.
   */
  private void end(Reservation reservation) {
    if (readOnly.isSet()) {
      return;
    }
    try {
      engine.publication().settle();
    } catch (UncheckedIOException | InternalError e) {
      readOnly.becauseOf(e);
      return;
    }
    engine.log().end(reservation.extent);
  }

  private void linked(Region region) {
    for (Port port : ports) {
      port.register(region);
    }
    engine.root().nextEpoch();
    linkedAt[region.slot()] = engine.root().epoch();
    RegionLinkedEvent event = Events.begin(RegionLinkedEvent::new);
    if (Events.wanted(event)) {
      event.head = region.head();
      event.region = region.index();
      event.generation = region.generation();
      event.freeRegions = engine.log().freeRegions();
      event.commit();
    }
  }

  private void recordRetired(Region region) {
    RegionRetiredEvent event = Events.begin(RegionRetiredEvent::new);
    if (Events.wanted(event)) {
      event.head = region.head();
      event.region = region.index();
      event.generation = region.generation();
      event.epoch = engine.root().epoch();
      event.commit();
    }
  }

  private static void recordExhausted(String what, int clientId, int head, long bytes) {
    SpaceExhaustedEvent event = Events.begin(SpaceExhaustedEvent::new);
    if (Events.wanted(event)) {
      event.what = what;
      event.clientId = clientId;
      event.head = head;
      event.bytes = bytes;
      event.commit();
    }
  }

  /** A request lies in a slot of a connection. Bytes from outside: nothing in them is trusted. */
  void onMessage(Connection connection, int slot, int received) {
    requests++;
    lastRequestNs = nanoTime.getAsLong();
    MemorySegment in = connection.buffers();
    long at = Connection.requestAt(slot);
    if (!Message.wellFormed(in, at, received)
        || Message.clientId(in, at) != connection.clientId
        || Message.connectionEpoch(in, at) != connection.connectionEpoch) {
      connection.giveUp();
      return;
    }
    int type = Message.type(in, at);
    if (type != Message.PUBLISH) {
      publishBatch();
    }
    switch (type) {
      case Message.PUBLISH -> onPublish(connection, slot, in, at, received);
      case Message.LEASE -> onLease(connection, slot, in, at, received);
      case Message.END -> onEnd(connection, slot, in, at, received);
      case Message.MAP -> onMap(connection, slot, in, at, received);
      case Message.RESOLVE -> onResolve(connection, slot, in, at, received);
      case Message.ERASE -> onErase(connection, slot, in, at, received);
      case Message.CLEAN -> onClean(connection, slot, in, at, received);
      case Message.LEFT -> onLeft(connection, slot, in, at, received);
      case Message.STATS -> onStats(connection, slot, in, at, received);
      default -> respond(connection, slot, type, Result.BAD_REQUEST, Message.HEADER_BYTES);
    }
  }

  private void onPublish(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.PUBLISH_REQUEST_BYTES) {
      respond(connection, slot, Message.PUBLISH, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    int result = admit(connection, in, at);
    if (result != Result.OK) {
      publishBatch();
      if (result == Result.READ_ONLY) {
        refuseReadOnly(connection, slot, Message.PUBLISH, result);
      } else {
        respond(connection, slot, Message.PUBLISH, result, Message.HEADER_BYTES);
      }
      return;
    }
    batch[batchCount].requester = connection;
    askers[batchCount] = connection;
    slots[batchCount] = slot;
    batchCount++;
    if (batchCount == BATCH_MAX) {
      publishBatch();
    }
  }

  /**
   * Fills the next request of the batch, if the place belongs to an open reservation of this client
   * and was not published before.
   */
  private int admit(Connection connection, MemorySegment in, long at) {
    if (readOnly.isSet()) {
      return Result.READ_ONLY;
    }
    Reservation reservation =
        connection.reservations.get(Message.getLong(in, at + Message.PUBLISH_RESERVATION));
    if (reservation == null) {
      return Result.NO_RESERVATION;
    }
    LogStore log = engine.log();
    Extent extent = reservation.extent;
    Region region = extent.region();
    int offset = Message.getInt(in, at + Message.PUBLISH_OFFSET);
    int bytes = Message.getInt(in, at + Message.PUBLISH_OBJECT_BYTES);
    if (offset <= 0 || bytes <= ObjectLayout.HEADER_BYTES || bytes > extent.length()) {
      return Result.BAD_REQUEST;
    }
    long place = log.geometry().place(offset);
    if (Message.getInt(in, at + Message.PUBLISH_HEAD) != region.head()
        || log.geometry().regionIndex(offset) != region.index()
        || place < reservation.nextPlace
        || place + ObjectLayout.padded(bytes) > extent.end()) {
      return Result.NO_RESERVATION;
    }
    reservation.nextPlace = place + ObjectLayout.padded(bytes);
    reservation.lastUsedNs = lastRequestNs;
    PublishRequest request = batch[batchCount];
    request.extent = extent;
    request.place = place;
    request.offset = offset;
    request.bytes = bytes;
    request.delete = (Message.getInt(in, at + Message.PUBLISH_FLAGS) & Message.FLAG_DELETE) != 0;
    return Result.OK;
  }

  private void publishBatch() {
    if (batchCount == 0) {
      return;
    }
    int count = batchCount;
    batchCount = 0;
    try {
      engine.publication().publish(batch, count);
      faults.surface();
    } catch (UncheckedIOException | InternalError e) {
      readOnly.becauseOf(e);
      for (int i = 0; i < count; i++) {
        batch[i].result = Result.FAILED;
      }
    }
    for (int i = 0; i < count; i++) {
      PublishRequest request = batch[i];
      Connection connection = askers[i];
      if (request.result == Result.TABLE_FULL || request.result == Result.DISK_FULL) {
        refusedForSpace++;
        recordExhausted(
            request.result == Result.TABLE_FULL ? "TABLE" : "DISK",
            connection.clientId,
            request.extent.region().head(),
            request.bytes);
      }
      if (request.result == Result.FAILED) {
        refuseReadOnly(connection, slots[i], Message.PUBLISH, Result.FAILED);
      } else if (request.result == Result.NOT_NOW) {
        refuse(
            connection,
            slots[i],
            Message.PUBLISH,
            Result.NOT_NOW,
            "the hash table is full, and the file of a larger one is being made");
      } else {
        Message.putLong(
            connection.buffers(),
            Connection.responseAt(slots[i]) + Message.PUBLISHED_EXISTED,
            request.existed ? 1 : 0);
        respond(
            connection, slots[i], Message.PUBLISH, request.result, Message.PUBLISH_RESPONSE_BYTES);
      }
      if (i + 1 == count || askers[i + 1] != connection) {
        connection.settle();
      }
      request.requester = null;
      askers[i] = null;
      request.extent = null;
    }
  }

  private void onLease(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.LEASE_REQUEST_BYTES) {
      respond(connection, slot, Message.LEASE, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    int head = Message.getInt(in, at + Message.LEASE_HEAD);
    int bytesMin = Message.getInt(in, at + Message.LEASE_BYTES_MIN);
    if (head < 0 || head >= connection.extentBytes.length || bytesMin <= 0) {
      respond(connection, slot, Message.LEASE, Result.BAD_REQUEST, Message.HEADER_BYTES);
    } else if (bytesMin > engine.log().geometry().objectBytesMax()) {
      respond(connection, slot, Message.LEASE, Result.TOO_LARGE, Message.HEADER_BYTES);
    } else if (readOnly.isSet()) {
      refuseReadOnly(connection, slot, Message.LEASE, Result.READ_ONLY);
    } else {
      long untilNs = nanoTime.getAsLong() + limits.cleaning().leaseWaitNs();
      lease(
          new LeaseQueue.Waiting(
              connection,
              slot,
              head,
              ObjectLayout.padded(bytesMin),
              untilNs,
              engine.log().spareFailures() + (engine.log().making() ? 1 : 0)));
    }
  }

  private void lease(LeaseQueue.Waiting request) {
    Connection connection = request.connection();
    int slot = request.slot();
    int head = request.head();
    int bytesMin = request.bytesMin();
    int wanted =
        Math.max(bytesMin, Math.min(connection.extentBytes[head], limits.extentBytesMax()));
    LeaseResult result;
    if (readOnly.isSet()) {
      refuseReadOnly(connection, slot, Message.LEASE, Result.READ_ONLY);
      return;
    }
    long share = engine.log().openBytesMax();
    for (Reservation excess : connection.reservations.takeExcess(bytesMin, share)) {
      end(excess);
      excessEnded++;
    }
    wanted =
        (int) Math.min(wanted, Math.max(bytesMin, share - connection.reservations.openBytes()));
    try {
      result =
          engine.log().spareFailures() <= request.failures()
              ? engine.log().lease(head, bytesMin, wanted)
              : engine.log().leaseAtHand(head, bytesMin, wanted);
      faults.surface();
    } catch (UncheckedIOException | InternalError e) {
      readOnly.becauseOf(e);
      refuseReadOnly(connection, slot, Message.LEASE, Result.READ_ONLY);
      return;
    }
    switch (result) {
      case LeaseResult.Leased(Extent extent) -> {
        connection.extentBytes[head] = Math.min(2 * wanted, limits.extentBytesMax());
        leased(connection, slot, extent);
      }
      case LeaseResult.NotReady notReady -> waitingLeases.add(request);
      case LeaseResult.LogFull full -> {
        if (mayWait(request) && cleaner.waitsFor(head)) {
          waitingLeases.add(request);
        } else {
          refuse(request, Result.LOG_FULL, "LOG");
        }
      }
      case LeaseResult.NotNow not ->
          refuse(connection, slot, Message.LEASE, Result.NOT_NOW, not.message());
      case LeaseResult.DiskFull full -> {
        if (mayWait(request) && (cleaner.waitsFor(head) || fileComes())) {
          waitingLeases.add(request);
        } else {
          refuse(request, Result.DISK_FULL, "DISK");
        }
      }
    }
  }

  private boolean mayWait(LeaseQueue.Waiting request) {
    return nanoTime.getAsLong() - request.untilNs() < 0;
  }

  /** Whether a file is being made or will be left, or disk space for one. */
  private boolean fileComes() {
    return engine.log().making() || departures.waiting() > 0 || releasing || spaceCame;
  }

  private void refuse(LeaseQueue.Waiting request, int result, String full) {
    refusedForSpace++;
    recordExhausted(full, request.connection().clientId, request.head(), request.bytesMin());
    respond(request.connection(), request.slot(), Message.LEASE, result, Message.HEADER_BYTES);
  }

  private void leased(Connection connection, int slot, Extent extent) {
    Reservation reservation = new Reservation(++nextReservation, extent, nanoTime.getAsLong());
    connection.reservations.add(reservation);
    MemorySegment out = connection.buffers();
    long at = Connection.responseAt(slot);
    Message.putLong(out, at + Message.LEASED_RESERVATION, reservation.id);
    Message.putLong(out, at + Message.LEASED_EPOCH, engine.root().epoch());
    Message.putInt(out, at + Message.LEASED_REGION_INDEX, extent.region().index());
    Message.putInt(out, at + Message.LEASED_GENERATION, extent.region().generation());
    Message.putLong(out, at + Message.LEASED_PLACE, extent.place());
    Message.putLong(out, at + Message.LEASED_LENGTH, extent.length());
    respond(connection, slot, Message.LEASE, Result.OK, Message.LEASE_RESPONSE_BYTES);
  }

  private void onEnd(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.END_REQUEST_BYTES) {
      respond(connection, slot, Message.END, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    Reservation reservation =
        connection.reservations.remove(Message.getLong(in, at + Message.END_RESERVATION));
    if (reservation != null) {
      end(reservation);
    }
    int result = reservation == null ? Result.NO_RESERVATION : Result.OK;
    respond(connection, slot, Message.END, result, Message.END_RESPONSE_BYTES);
  }

  private void onMap(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.MAP_REQUEST_BYTES) {
      respond(connection, slot, Message.MAP, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    Tables tables = engine.tables();
    List<Region> regions = engine.log().regions();
    int first = Math.clamp(Message.getInt(in, at + Message.MAP_FROM), 0, regions.size());
    int count = Math.min(regions.size() - first, Message.RECORDS_MAX);
    connection.mapEpoch = engine.root().epoch();
    MemorySegment out = connection.buffers();
    long to = Connection.responseAt(slot);
    Message.putLong(out, to + Message.MAPPED_INCARNATION, engine.root().incarnation());
    Message.putLong(out, to + Message.MAPPED_EPOCH, engine.root().epoch());
    Message.putLong(out, to + Message.MAPPED_TABLE_KEY, connection.port.keyOf(tables.current()));
    Message.putLong(out, to + Message.MAPPED_ENTRIES_OFFSET, HashTable.entriesOffset());
    Message.putLong(out, to + Message.MAPPED_BUCKETS, tables.current().table().buckets());
    Message.putInt(out, to + Message.MAPPED_NEIGHBOURHOOD, HashTable.neighbourhood());
    Message.putInt(out, to + Message.MAPPED_REGIONS, regions.size());
    Message.putInt(out, to + Message.MAPPED_FIRST, first);
    Message.putInt(out, to + Message.MAPPED_COUNT, count);
    Message.putLong(out, to + Message.MAPPED_NEXT_KEY, connection.port.keyOf(tables.next()));
    Message.putLong(
        out,
        to + Message.MAPPED_NEXT_BUCKETS,
        tables.next() == null ? 0 : tables.next().table().buckets());
    for (int i = 0; i < count; i++) {
      Region region = regions.get(first + i);
      long record = to + Message.MAPPED_RECORDS + (long) i * Message.RECORD_BYTES;
      Message.putInt(out, record + Message.RECORD_HEAD, region.head());
      Message.putInt(out, record + Message.RECORD_INDEX, region.index());
      Message.putLong(out, record + Message.RECORD_GENERATION, region.generation() & 0xFFFF_FFFFL);
      Message.putLong(out, record + Message.RECORD_KEY, connection.port.keyOf(region));
    }
    respond(
        connection,
        slot,
        Message.MAP,
        Result.OK,
        Message.MAPPED_RECORDS + count * Message.RECORD_BYTES);
  }

  private void onResolve(Connection connection, int slot, MemorySegment in, long at, int received) {
    int result = Result.BAD_REQUEST;
    if (keyFits(in, at, received)) {
      int keyLength = Message.getInt(in, at + Message.RESOLVE_KEY_LENGTH);
      result = resolve(in, at + Message.RESOLVE_KEY, keyLength);
    }
    respond(connection, slot, Message.RESOLVE, result, Message.RESOLVE_RESPONSE_BYTES);
  }

  private int resolve(MemorySegment in, long keyAt, int keyLength) {
    try {
      StoreEngine.Resolution resolution = engine.resolve(in, keyAt, keyLength);
      faults.surface();
      return switch (resolution) {
        case SOUND -> Result.OK;
        case DAMAGED -> Result.DAMAGED;
      };
    } catch (InternalError e) {
      readOnly.becauseOf(e);
      return Result.DAMAGED;
    }
  }

  private void onErase(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (!keyFits(in, at, received)) {
      respond(connection, slot, Message.ERASE, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    if (readOnly.isSet()) {
      refuseReadOnly(connection, slot, Message.ERASE, Result.READ_ONLY);
      return;
    }
    if (!connection.claim()) {
      respond(connection, slot, Message.ERASE, Result.NO_RESERVATION, Message.HEADER_BYTES);
      connection.settle();
      return;
    }
    int keyLength = Message.getInt(in, at + Message.ERASE_KEY_LENGTH);
    StoreEngine.Erasure erasure;
    try {
      erasure = engine.erase(in, at + Message.ERASE_KEY, keyLength);
      faults.surface();
    } catch (UncheckedIOException | InternalError e) {
      readOnly.becauseOf(e);
      refuseReadOnly(connection, slot, Message.ERASE, Result.FAILED);
      return;
    }
    if (erasure == StoreEngine.Erasure.NOT_NOW) {
      refuse(connection, slot, Message.ERASE, Result.NOT_NOW, "a put of this key is not decided");
    } else {
      Message.putLong(
          connection.buffers(),
          Connection.responseAt(slot) + Message.ERASED_EXISTED,
          erasure == StoreEngine.Erasure.ERASED ? 1 : 0);
      respond(connection, slot, Message.ERASE, Result.OK, Message.ERASE_RESPONSE_BYTES);
    }
    connection.settle();
  }

  private boolean keyFits(MemorySegment in, long at, int received) {
    if (received < Message.RESOLVE_KEY) {
      return false;
    }
    int keyLength = Message.getInt(in, at + Message.RESOLVE_KEY_LENGTH);
    return keyLength > 0
        && keyLength <= engine.keyBytesMax()
        && received == Message.RESOLVE_KEY + keyLength;
  }

  private void onClean(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.CLEAN_REQUEST_BYTES) {
      respond(connection, slot, Message.CLEAN, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    int head = Message.getInt(in, at + Message.CLEAN_HEAD);
    int heads = engine.log().geometry().heads();
    if (head < -1 || head >= heads) {
      refuse(
          connection,
          slot,
          Message.CLEAN,
          Result.NO_SUCH_HEAD,
          "%d, the store has heads 0 to %d".formatted(head, heads - 1));
    } else if (readOnly.isSet()) {
      refuseReadOnly(connection, slot, Message.CLEAN, Result.READ_ONLY);
    } else if (!limits.cleaning().enabled()) {
      respond(connection, slot, Message.CLEAN, Result.NO_CLEANING, Message.HEADER_BYTES);
    } else {
      cleaner.ask(head);
      respond(connection, slot, Message.CLEAN, Result.OK, Message.CLEAN_RESPONSE_BYTES);
    }
  }

  private void onLeft(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.LEFT_REQUEST_BYTES) {
      respond(connection, slot, Message.LEFT, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    departures.left(connection.clientId, Message.getLong(in, at + Message.LEFT_EPOCH));
    respond(connection, slot, Message.LEFT, Result.OK, Message.LEFT_RESPONSE_BYTES);
  }

  private void onStats(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.STATS_REQUEST_BYTES) {
      respond(connection, slot, Message.STATS, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    Map<String, LongSupplier> all = allFigures();
    int first = Math.clamp(Message.getInt(in, at + Message.STATS_FROM), 0, all.size());
    MemorySegment out = connection.buffers();
    long to = Connection.responseAt(slot);
    int length = Message.STATS_FIGURES_AT;
    int index = 0;
    int count = 0;
    for (Map.Entry<String, LongSupplier> figure : all.entrySet()) {
      byte[] name = figure.getKey().getBytes(StandardCharsets.UTF_8);
      if (index++ < first) {
        continue;
      }
      if (length + 9 + name.length > Protocol.MESSAGE_BYTES_MAX) {
        break;
      }
      Message.putLong(out, to + length, figure.getValue().getAsLong());
      out.set(ValueLayout.JAVA_BYTE, to + length + 8, (byte) name.length);
      MemorySegment.copy(name, 0, out, ValueLayout.JAVA_BYTE, to + length + 9, name.length);
      length += 9 + name.length;
      count++;
    }
    Message.putInt(out, to + Message.STATS_FIGURES, all.size());
    Message.putInt(out, to + Message.STATS_FIRST, first);
    Message.putLong(out, to + Message.STATS_COUNT, count);
    respond(connection, slot, Message.STATS, Result.OK, length);
  }

  private void refuse(Connection connection, int slot, int type, int result, String why) {
    int length = Message.putReason(connection.buffers(), Connection.responseAt(slot), why);
    respond(connection, slot, type, result, length);
  }

  /** Answers with the reason why the store takes no more puts and deletes. */
  private void refuseReadOnly(Connection connection, int slot, int type, int result) {
    refuse(connection, slot, type, result, readOnly.reason());
  }

  private void respond(Connection connection, int slot, int type, int result, int length) {
    MemorySegment buffers = connection.buffers();
    Message.putHeader(
        buffers,
        Connection.responseAt(slot),
        type,
        result,
        length,
        Message.requestId(buffers, Connection.requestAt(slot)),
        connection.clientId,
        connection.connectionEpoch);
    connection.respond(slot, length);
  }

  private void endIdleReservations(long nowNs) {
    LogStore log = engine.log();
    long idleNs =
        log.openBytes() > log.openBytesMax()
            ? Math.min(SCARCE_IDLE_NS, limits.reservationIdleNs())
            : limits.reservationIdleNs();
    for (int i = 0; i < connections.size(); i++) {
      connections.get(i).reservations.takeUnusedFor(idleNs, nowNs).forEach(this::end);
    }
  }

  private void tellAppends() {
    LogStore log = engine.log();
    for (int head = 0; head < log.geometry().heads(); head++) {
      Region region = log.appendRegion(head);
      if (region != null) {
        fileWork.appending(head, region.memory(), log.appendPlace(head));
      }
    }
  }

  /**
   * With how much of each region is live, once that was counted, and who has not left a region that
   * is gone.
   */
  private Map<String, LongSupplier> allFigures() {
    Map<String, LongSupplier> all = new LinkedHashMap<>(figures);
    List<Region> regions = engine.log().regions();
    for (int i = 0; i < Math.min(regions.size(), REGION_FIGURES_MAX); i++) {
      Region region = regions.get(i);
      long live = cleaner.liveBytes(region);
      if (live >= 0) {
        String name = "region.%d.%d.live.permille".formatted(region.head(), region.index());
        all.put(name, () -> 1000 * live / engine.log().geometry().regionBytes());
      }
    }
    departures.describe((name, processId) -> all.put(name, () -> processId));
    if (readOnly.isSet()) {
      all.put(Message.figureName("store.readonly.reason=" + readOnly.reason()), () -> 1);
    }
    return all;
  }

  private void addFigures() {
    figure("cleaner.phase", () -> cleaner.phase().ordinal());
    figure("cleaner.progress.permille", cleaner::progress);
    figure("cleaner.victim.head", () -> victim(Region::head));
    figure("cleaner.victim.region", () -> victim(Region::index));
    figure("cleaner.asked", () -> cleaner.asked() ? 1 : 0);
    figure("cleaner.cleanings", cleaner::cleanings);
    figure("cleaner.givenup", cleaner::givenUp);
    figure("cleaner.bytes.copied", cleaner::bytesCopied);
    figure("cleaner.bytes.reclaimed", cleaner::bytesReclaimed);
    figure("cleaner.regions.damaged", cleaner::damagedRegions);
    figure("cleaner.regions.released", departures::regionsReleased);
    figure("cleaner.regions.leaving", departures::waiting);
    figure("cleaner.leaving.client", departures::waitingFor);
    figure("cleaner.leaving.late", departures::timedOut);
    figure("cleaner.leases.waiting", waitingLeases::size);
    figure("cleaner.regions.reused", departures::reused);
    figure("log.files.spare", () -> engine.log().spareFiles());
    figure("log.regions.free", () -> engine.log().freeRegions());
    figure("connections", connections::size);
    figure("connections.refused", () -> refusedConnections);
    figure("requests", () -> requests);
    figure("requests.refused.full", () -> refusedForSpace);
    figure("puts", engine.publication()::puts);
    figure("deletes", engine.publication()::deletes);
    figure("objects.bytes.published", engine.publication()::bytesPublished);
    Tables tables = engine.tables();
    TableGrowth growth = engine.growth();
    figure("table.entries", tables::sizeIfKnown);
    figure("table.slots", tables::slots);
    figure("table.buckets", tables::buckets);
    figure("table.load.percent", () -> loadPercent(tables));
    figure("table.doubling", () -> growth.growing() ? 1 : 0);
    figure("table.doubling.percent", tables::progressPercent);
    figure("table.doublings", growth::doublings);
    figure("table.doublings.postponed", growth::timesPutOff);
    figure("log.bytes.used", () -> engine.log().usage().usedBytes());
    figure("log.bytes.open", () -> engine.log().openBytes());
    figure("log.bytes.linked", () -> engine.log().usage().linkedBytes());
    figure("log.bytes.capacity", () -> engine.log().usage().capacityBytes());
    figure("log.extents.ended.excess", () -> excessEnded);
    figure("log.extents.open", () -> engine.log().usage().openExtents());
    figure("clients.reads", () -> devices().reads());
    figure("clients.bytes.read", () -> devices().bytesRead());
    figure("clients.writes", () -> devices().writes());
    figure("clients.bytes.written", () -> devices().bytesWritten());
    figure("clients.bytes.differing", () -> devices().bytesDiffering());
    figure("recovery.bytes.scanned", () -> engine.recovery().bytesScanned());
    figure("recovery.objects", () -> engine.recovery().objectsSeen());
    figure("recovery.committed", () -> engine.recovery().committed());
    figure("recovery.cleaning", () -> engine.recovery().cleaning() ? 1 : 0);
    figure("recovery.doubling", () -> engine.recovery().doubling() ? 1 : 0);
    figure("store.incarnation", () -> engine.root().incarnation());
    figure("store.epoch", () -> engine.root().epoch());
    figure("store.promise", () -> engine.promise().code());
    figure("store.readonly", () -> readOnly.isSet() ? 1 : 0);
  }

  private static long loadPercent(Tables tables) {
    long size = tables.sizeIfKnown();
    return size < 0 ? -1 : 100 * size / tables.buckets();
  }

  /** Something of the region that is being cleaned, or −1. */
  private long victim(ToLongFunction<Region> what) {
    Region victim = cleaner.victim();
    return victim == null ? -1 : what.applyAsLong(victim);
  }

  private DeviceStatistics devices() {
    while (true) {
      try {
        DeviceStatistics sum = DeviceStatistics.NONE;
        for (Port port : ports) {
          sum = sum.plus(port.device.statistics());
        }
        faults.surface();
        return sum;
      } catch (InternalError e) {
        if (!giveUpWhoseMemoryIsLost()) {
          throw e;
        }
      }
    }
  }

  /**
   * Closes the store and leaves the connections as the end of the process would: where the device
   * allows it, clients read on.
   */
  public void leave() {
    departures.close();
    engine.close();
  }

  /** Ends every connection, then closes the store. */
  @Override
  public void close() {
    for (Connection connection : connections) {
      connection.giveUp();
    }
    connections.removeIf(this::closeIfGone);
    ports.forEach(Port::close);
    ports.clear();
    departures.close();
    engine.close();
  }
}
