package io.erda.simulation.system;

import io.erda.cleaner.Entries;
import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.OperationHandler;
import io.erda.client.connections.LocalPublisher;
import io.erda.client.files.ReadOnlyDevice;
import io.erda.logstore.LogFiles;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.logstore.Region;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.ReadableDirectory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.rdma.Device;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.files.StoreWishes;
import io.erda.server.engine.files.TableGrowthOptions;
import io.erda.server.engine.inspection.StoreInspection;
import io.erda.server.engine.service.CoreSurroundings;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import io.erda.server.engine.tables.TableGrowth;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** Erda's own server and client cores, as they run in production. */
public final class ErdaUnderTest implements StoreUnderTest {
  /** About how many steps of the server there are between two requests to clean. */
  private static final int ASKS_SHARE = 1024;

  private final StoreGeometry geometry;
  private final ServiceOptions service;
  private final ClientOptions clientOptions;

  /** The store of the current process, or of the one before. */
  private StoreEngine engine;

  private StoreEngine before;

  /** The turn of the current process. */
  private InsideTurn turn;

  /** The promise that servers are opened with; null: none. */
  private Promise wanted;

  /** The number of regions that servers are opened with; 0: none. */
  private int wantedRegions;

  /**
   * The number of regions that the log may have now; several numbers when openings were killed in
   * the middle.
   */
  private final Set<Integer> regionsPossible = new HashSet<>();

  /** Whether the last opening refused the requested capacity. */
  private boolean capacityRefused;

  private final boolean doubles;
  private final boolean clientsCommit;
  private LongConsumer pause = ns -> {};
  private final UnaryOperator<Entries> overEntries;

  public ErdaUnderTest(
      StoreGeometry geometry, ServiceOptions service, ClientOptions clientOptions) {
    this(geometry, true, false, service, clientOptions, UnaryOperator.identity());
  }

  /** Makes a system for a configuration. */
  public ErdaUnderTest(Configuration configuration) {
    this(configuration, UnaryOperator.identity());
  }

  /**
   * Makes a system for a configuration.
   *
   * @param overEntries wraps the cleaner's view of the table
   */
  public ErdaUnderTest(Configuration configuration, UnaryOperator<Entries> overEntries) {
    this(
        configuration.store(),
        configuration.doubles(),
        configuration.clientsCommit(),
        configuration.service(),
        configuration.client(),
        overEntries);
  }

  private ErdaUnderTest(
      StoreGeometry geometry,
      boolean doubles,
      boolean clientsCommit,
      ServiceOptions service,
      ClientOptions clientOptions,
      UnaryOperator<Entries> overEntries) {
    this.geometry = geometry;
    this.regionsPossible.add(geometry.geometry().regionsMax());
    this.doubles = doubles;
    this.clientsCommit = clientsCommit;
    this.service = service;
    this.clientOptions = clientOptions;
    this.overEntries = overEntries;
  }

  /**
   * Sets the promise that servers are opened with from now on; null, as at the beginning: the store
   * keeps its promise.
   */
  @Override
  public void wanted(Promise promise) {
    wanted = promise;
  }

  /** The promise of the store that was opened last. */
  @Override
  public Promise promise() {
    return engine.promise();
  }

  @Override
  public void wantedRegions(int regions) {
    wantedRegions = regions;
  }

  @Override
  public void pausesBy(LongConsumer value) {
    pause = value;
  }

  @Override
  public int regionsMax() {
    return engine == null ? geometry.geometry().regionsMax() : engine.log().geometry().regionsMax();
  }

  /** The wishes for a store: a capacity that is too small is requested once, and refused. */
  private StoreWishes wishes(MemoryDirectory directory) throws IOException {
    capacityRefused = false;
    if (wantedRegions == 0) {
      return StoreWishes.NONE;
    }
    StoreWishes wishes =
        new StoreWishes(
            0,
            0,
            0,
            wantedRegions * geometry.geometry().regionBytes(),
            LogGeometry.REGIONS_MAX,
            0,
            StoreGeometry.BUCKETS_MAX,
            null);
    try {
      wishes.require(directory);
    } catch (ErdaException.Unusable e) {
      if (!e.getMessage().contains("so at least")) {
        throw e;
      }
      capacityRefused = true;
      return StoreWishes.NONE;
    }
    regionsPossible.add(wantedRegions);
    return wishes;
  }

  /** Requires that the log may have the requested number of regions, and has no more. */
  private void requireCapacityKept() {
    int now = regionsMax();
    boolean asked = wantedRegions != 0 && !capacityRefused;
    if (asked ? now != wantedRegions : !regionsPossible.contains(now)) {
      requireSound(
          now + " regions may be linked, not " + (asked ? wantedRegions : regionsPossible));
    }
    if (engine.log().regions().size() > now) {
      requireSound(engine.log().regions().size() + " regions are linked where " + now + " may be");
    }
    regionsPossible.clear();
    regionsPossible.add(now);
  }

  @Override
  public void inspect(
      MemoryDirectory directory, RandomGenerator random, BiConsumer<byte[], String> findings) {
    try (StoreEngine looked = StoreOpening.look(directory, random)) {
      new StoreInspection(looked, findings::accept).run((what, done, all) -> {});
    }
  }

  @Override
  public Server start(
      MemoryDirectory directory,
      Device device,
      String address,
      List<Device> abandoned,
      LongSupplier nanoTime,
      RandomGenerator random)
      throws IOException {
    Server server =
        opened(
            directory,
            device,
            address,
            abandoned,
            nanoTime,
            random,
            (key, what) -> requireSound(what));
    requireNoSpaceLost(directory);
    requireCapacityKept();
    return server;
  }

  @Override
  public Server startDamaged(
      MemoryDirectory directory,
      Device device,
      String address,
      LongSupplier nanoTime,
      RandomGenerator random,
      BiConsumer<byte[], String> findings)
      throws IOException {
    return opened(directory, device, address, List.of(), nanoTime, random, findings);
  }

  private Server opened(
      MemoryDirectory directory,
      Device device,
      String address,
      List<Device> abandoned,
      LongSupplier nanoTime,
      RandomGenerator random,
      BiConsumer<byte[], String> findings)
      throws IOException {
    if (!directory.lock()) {
      throw new IllegalStateException("the lock of a dead process is still held");
    }
    before = engine;
    engine = StoreOpening.open(directory, geometry, wishes(directory), wanted, random);
    ServiceOptions growing = service.withGrowth(growthOptions(random));
    new StoreInspection(engine, findings::accept).run();
    CoreSurroundings surroundings = CoreSurroundings.NONE.withAbandoned(abandoned).withPause(pause);
    if (engine.tables().memory().visibleBeforeDurable() && random.nextBoolean()) {
      surroundings = surroundings.withSyncs(new SimulatedSyncs(nanoTime, random));
    }
    ServerCore core = new ServerCore(engine, growing, surroundings, nanoTime, overEntries);
    TableGrowth growth = core.writer().growth();
    if (clientsCommit && abandoned.isEmpty()) {
      core.letClientsCommit();
    }
    core.listen(device, device.listen(address));
    LogStore log = engine.log();
    InsideTurn own = new InsideTurn(core, random);
    turn = own;
    return new Server() {
      @Override
      public int doWork() {
        if (random.nextInt(ASKS_SHARE) == 0) {
          core.cleaner().ask(-1);
        }
        return own.step();
      }

      @Override
      public long commitsDefeated() {
        return core.commitsDefeated();
      }

      @Override
      public long commitsInside() {
        return own.commits();
      }

      @Override
      public long doublings() {
        return growth.doublings();
      }

      @Override
      public long halvings() {
        return growth.halvings();
      }

      @Override
      public long halvingsTurned() {
        return growth.turns();
      }

      @Override
      public long cleanings() {
        return core.cleaner().cleanings();
      }

      @Override
      public long undecided() {
        return core.writer().undecidedPuts();
      }

      @Override
      public String wrongWhenIdle() {
        LogStore.Usage usage = log.usage();
        if (log.regions().size() > log.geometry().regionsMax()) {
          return log.regions().size() + " regions are linked, more than may be: " + usage;
        }
        long kept = core.cleaner().damagedRegions();
        if (kept > 0) {
          return kept + " regions are kept as damaged, and nothing is: " + usage;
        }
        return usage.openExtents() == 0 && usage.openBytes() == 0
            ? null
            : "space that nobody holds is not given up: " + usage;
      }

      @Override
      public boolean isReadOnly() {
        return core.readOnlyReason() != null;
      }

      @Override
      public boolean mayStop() {
        return own.isFree();
      }

      @Override
      public void stop() {
        own.end();
        core.finishPublishing();
        if (device.readsOutlivePeer()) {
          core.leave();
        } else {
          core.close();
        }
        directory.close();
      }

      @Override
      public void release() {
        core.abandon();
      }
    };
  }

  /**
   * Requires that a restart loses no more space than the head's high-water mark was ahead: the end
   * of a skipped segment, an extent, and a step; and the space that the cleaner was setting aside.
   * And that no space is handed out twice. Reads the memory of the dead process.
   */
  private void requireNoSpaceLost(MemoryDirectory directory) throws IOException {
    LogStore log = engine.log();
    long files =
        directory.names().stream().filter(name -> name.startsWith(LogFiles.REGION_PREFIX)).count();
    long spares =
        directory.names().stream().filter(name -> name.matches("(spare|left)-.*")).count();
    if (spares > engine.leftovers().count()) {
      requireSound("spare files are left: " + directory.names());
    }
    if (files != log.regions().size()) {
      requireSound(files + " region files, " + log.regions().size() + " regions");
    }
    for (int head = 0; before != null && head < log.geometry().heads(); head++) {
      Region then = before.log().linked().appendRegion(head);
      Region now = log.linked().appendRegion(head);
      if (then == null || now == null || then.generation() != now.generation()) {
        continue;
      }
      long lostMax =
          service.cleaning().enabled()
              ? log.geometry().regionBytes()
              : 3L * log.geometry().segmentBytes();
      long lost = log.linked().appendPlace(head) - before.log().linked().appendPlace(head);
      if (before.log().linked().appendPlace(head) > 0
          && (lost < 0 || lost > lostMax)
          && before.log().linked().appendPlace(head) < log.geometry().regionBytes()) {
        requireSound(
            "head "
                + head
                + " appends at "
                + log.linked().appendPlace(head)
                + ", before it was "
                + before.log().linked().appendPlace(head));
      }
    }
  }

  /**
   * Moves a few slots in a step, so that tables of a few buckets take many steps to double. Half of
   * the servers don't double their tables, whose entries are displaced instead. Some halve a table
   * as soon as possible, and turn around when the smaller one has no room.
   */
  private TableGrowthOptions growthOptions(RandomGenerator random) {
    return new TableGrowthOptions(
        random.nextBoolean() || !doubles ? geometry.buckets() : StoreGeometry.BUCKETS_MAX,
        random.nextInt(1, 5),
        1L << random.nextInt(6, 24),
        4 << (int) (random.nextLong() & 1));
  }

  private static void requireSound(String finding) {
    throw new IllegalStateException("recovery left: " + finding);
  }

  @Override
  public boolean hasReaders() {
    return true;
  }

  @Override
  public Client read(ReadableDirectory directory, LongSupplier nanoTime, ClientEvents events) {
    return connect(new ReadOnlyDevice(() -> directory, nanoTime), "the files", nanoTime, events);
  }

  @Override
  public Client connect(Device device, String address, LongSupplier nanoTime, ClientEvents events) {
    return connect(device, address, nanoTime, events, null);
  }

  @Override
  public Client connectInside(
      Device device, String address, LongSupplier nanoTime, ClientEvents events) {
    return connect(device, address, nanoTime, events, turn);
  }

  private Client connect(
      Device device,
      String address,
      LongSupplier nanoTime,
      ClientEvents events,
      LocalPublisher publisher) {
    ErdaAsyncClient client =
        ErdaAsyncClient.over(
            device, address, clientOptions, nanoTime, new Events(events), publisher);
    return new Client() {
      @Override
      public int doWork() {
        return client.doWork();
      }

      @Override
      public boolean get(long token, MemorySegment key) {
        return client.get(token, key);
      }

      @Override
      public boolean put(long token, MemorySegment key, MemorySegment value) {
        return client.put(token, key, value);
      }

      @Override
      public boolean delete(long token, MemorySegment key) {
        return client.delete(token, key);
      }

      @Override
      public boolean putIfAbsent(long token, MemorySegment key, MemorySegment value) {
        return client.putIfAbsent(token, key, value);
      }

      @Override
      public boolean compareAndSet(
          long token, MemorySegment key, MemorySegment expected, MemorySegment value) {
        return client.compareAndSet(token, key, expected, value);
      }

      @Override
      public boolean compareAndDelete(long token, MemorySegment key, MemorySegment expected) {
        return client.compareAndDelete(token, key, expected);
      }

      @Override
      public void iterate() {
        client.iterate();
      }

      @Override
      public void next(long token) {
        if (!client.next(token)) {
          throw new IllegalStateException("two keys of one iteration at a time");
        }
      }

      @Override
      public void close() {
        client.close();
      }

      @Override
      public void release() {
        client.close();
      }
    };
  }

  private record Events(ClientEvents events) implements OperationHandler {
    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {
      events.got(token, length < 0 ? null : memory.asSlice(offset, length));
    }

    @Override
    public void onPut(long token) {
      events.done(token);
    }

    @Override
    public void onDelete(long token, boolean existed) {
      events.deleted(token, existed);
    }

    @Override
    public void onConditional(long token, boolean done) {
      events.compared(token, done);
    }

    @Override
    public void onEntry(long token, MemorySegment key, MemorySegment value) {
      events.entry(token, key, value);
    }

    @Override
    public void onError(long token, ErdaException error) {
      switch (error) {
        case ErdaException.OutcomeUnknown e -> events.unknown(token, e.isFinal(), e);
        case ErdaException.Unavailable e -> events.failed(token, e);
        case ErdaException.Refused e -> events.failed(token, e);
        case ErdaException.Full e -> events.failed(token, e);
        case ErdaException.ReadOnly e -> events.failed(token, e);
        case ErdaException.BadSize e -> events.broken(token, e);
        case ErdaException.Damaged e -> events.broken(token, e);
        case ErdaException.Unusable e -> events.broken(token, e);
        case ErdaException.BadArgument e -> events.broken(token, e);
      }
    }
  }
}
