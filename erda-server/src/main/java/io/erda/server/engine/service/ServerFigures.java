package io.erda.server.engine.service;

import io.erda.cleaner.Cleaner;
import io.erda.logstore.Region;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.Message;
import io.erda.rdma.DeviceStatistics;
import io.erda.server.engine.publishing.AnnouncedWords;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreFailures;
import io.erda.server.engine.store.StoreWriter;
import io.erda.server.engine.tables.TableGrowth;
import io.erda.server.engine.tables.Tables;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/** The figures of a server and its store; see {@link io.erda.server.figures.FigureCatalogue}. */
final class ServerFigures {
  private static final int REGION_FIGURES_MAX = 256;

  private final StoreEngine engine;
  private final StoreWriter writer;
  private final Cleaner cleaner;
  private final RegionFiles files;
  private final LeaseGrants leases;
  private final Admission admission;
  private final SpaceRefusals refusals;
  private final Ports ports;
  private final ClientConnections connections;
  private final StoreFailures failures;
  private final Answers answers;
  private final MemoryGuard faults = new MemoryGuard();

  ServerFigures(
      StoreEngine engine,
      StoreWriter writer,
      Cleaner cleaner,
      RegionFiles files,
      LeaseGrants leases,
      Admission admission,
      SpaceRefusals refusals,
      Ports ports,
      ClientConnections connections,
      StoreFailures failures,
      Answers answers) {
    this.engine = engine;
    this.writer = writer;
    this.cleaner = cleaner;
    this.files = files;
    this.leases = leases;
    this.admission = admission;
    this.refusals = refusals;
    this.ports = ports;
    this.connections = connections;
    this.failures = failures;
    this.answers = answers;
  }

  /**
   * Adds all of them.
   *
   * @param requests the number of requests that came
   */
  void addTo(NamedFigures figures, LongSupplier requests) {
    addCleaning(figures);
    addRequests(figures, requests);
    addTable(figures);
    addLog(figures);
    addClients(figures);
    addStore(figures);
    figures.addChanging(this::addChanging);
  }

  private void addCleaning(NamedFigures figures) {
    Departures departures = files.departures();
    figures.add("cleaner.phase", () -> cleaner.phase().ordinal());
    figures.add("cleaner.progress.permille", cleaner::progress);
    figures.add("cleaner.victim.head", () -> victim(Region::head));
    figures.add("cleaner.victim.region", () -> victim(Region::index));
    figures.add("cleaner.asked", () -> cleaner.asked() ? 1 : 0);
    figures.add("cleaner.blocked", () -> cleaner.blocked() ? 1 : 0);
    figures.add("cleaner.cleanings", cleaner::cleanings);
    figures.add("cleaner.givenup", cleaner::givenUp);
    figures.add("cleaner.bytes.copied", cleaner::bytesCopied);
    figures.add("cleaner.bytes.reclaimed", cleaner::bytesReclaimed);
    figures.add("cleaner.regions.damaged", cleaner::damagedRegions);
    figures.add("cleaner.regions.released", departures::regionsReleased);
    figures.add("cleaner.regions.leaving", departures::waiting);
    figures.add("cleaner.leaving.client", departures::waitingFor);
    figures.add("cleaner.leaving.late", departures::timedOut);
    figures.add("cleaner.leases.waiting", leases::waiting);
    figures.add("cleaner.regions.reused", departures::reused);
  }

  private void addRequests(NamedFigures figures, LongSupplier requests) {
    figures.add("log.files.spare", () -> engine.log().files().count());
    figures.add("log.files.failed", () -> engine.log().files().failures());
    figures.add("log.regions.free", () -> engine.log().linked().freeRegions());
    figures.add("connections", connections::size);
    admission.addTo(figures);
    figures.add("connections.garbage", connections::misbehaved);
    figures.add("requests", requests);
    answers.addTo(figures);
    figures.add("requests.refused.full", refusals::count);
    figures.add("requests.refused.quota", refusals::overQuota);
    figures.add("puts", writer.puts()::puts);
    figures.add("deletes", writer.puts()::deletes);
    AnnouncedWords announced = writer.announced();
    figures.add("puts.shared", writer.puts()::shared);
    figures.add("puts.undecided", () -> announced == null ? 0 : announced.undecided());
    figures.add("puts.rolledback", () -> announced == null ? 0 : announced.rolledBack());
    figures.add("clients.fenced", () -> announced == null ? 0 : announced.fenced());
    figures.add("objects.bytes.published", writer.puts()::bytes);
  }

  private void addTable(NamedFigures figures) {
    Tables tables = engine.tables();
    TableGrowth growth = writer.growth();
    figures.add("table.entries", tables::sizeIfKnown);
    figures.add("table.slots", tables::slots);
    figures.add("table.buckets", tables::buckets);
    figures.add("table.load.percent", () -> loadPercent(tables));
    figures.add("table.doubling", () -> growth.growing() ? 1 : 0);
    figures.add("table.doubling.percent", tables::progressPercent);
    figures.add("table.doublings", growth::doublings);
    figures.add("table.doublings.postponed", growth::timesPutOff);
    figures.add("table.halving", () -> growth.shrinking() ? 1 : 0);
    figures.add("table.halvings", growth::halvings);
    figures.add("table.halvings.turned", growth::turns);
    figures.add("table.tombstones.emptied", growth::tombstonesEmptied);
  }

  private void addLog(NamedFigures figures) {
    figures.add("log.bytes.used", () -> engine.log().usage().usedBytes());
    figures.add("log.bytes.open", () -> engine.log().openBytes());
    figures.add("log.bytes.linked", () -> engine.log().usage().linkedBytes());
    figures.add("log.bytes.capacity", () -> engine.log().usage().capacityBytes());
    figures.add("log.extents.ended.excess", leases::excessEnded);
    figures.add("log.extents.open", () -> engine.log().usage().openExtents());
  }

  private void addClients(NamedFigures figures) {
    figures.add("clients.reads", () -> devices().reads());
    figures.add("clients.bytes.read", () -> devices().bytesRead());
    figures.add("clients.writes", () -> devices().writes());
    figures.add("clients.bytes.written", () -> devices().bytesWritten());
    figures.add("clients.bytes.differing", () -> devices().bytesDiffering());
  }

  private void addStore(NamedFigures figures) {
    figures.add("recovery.bytes.scanned", () -> engine.recovery().bytesScanned());
    figures.add("recovery.objects", () -> engine.recovery().objectsSeen());
    figures.add("recovery.committed", () -> engine.recovery().committed());
    figures.add("recovery.cleaning", () -> engine.recovery().cleaning() ? 1 : 0);
    figures.add("recovery.doubling", () -> engine.recovery().resizing() ? 1 : 0);
    figures.add("store.incarnation", () -> engine.root().incarnation());
    figures.add("store.epoch", () -> engine.root().epoch());
    figures.add("store.putmode", () -> engine.putMode().code());
    figures.add("store.promise", () -> engine.promise().code());
    figures.add("store.files.left", engine.leftovers()::count);
    figures.add("store.readonly", () -> failures.any() ? 1 : 0);
    figures.add("store.unwritten", () -> engine.isFailed() ? 1 : 0);
  }

  /**
   * Adds the figures that do not always exist: the live share of each region, once it is known; the
   * clients that have not left a retired region; and the reason why puts are refused.
   */
  private void addChanging(Map<String, LongSupplier> all) {
    List<Region> regions = engine.log().regions();
    for (int i = 0; i < Math.min(regions.size(), REGION_FIGURES_MAX); i++) {
      Region region = regions.get(i);
      long live = cleaner.liveBytes(region);
      if (live >= 0) {
        String name = "region." + region.head() + "." + region.index() + ".live.permille";
        all.put(name, () -> 1000 * live / engine.log().geometry().regionBytes());
      }
    }
    answers.addTo(all);
    files.departures().describe((name, processId) -> all.put(name, () -> processId));
    if (failures.any()) {
      all.put(Message.figureName("store.readonly.reason=" + failures.reason()), () -> 1);
    }
  }

  private static long loadPercent(Tables tables) {
    long size = tables.sizeIfKnown();
    return size < 0 ? -1 : 100 * size / tables.buckets();
  }

  /** Returns a property of the region that is being cleaned; −1 when none is. */
  private long victim(ToLongFunction<Region> what) {
    Region victim = cleaner.victim();
    return victim == null ? -1 : what.applyAsLong(victim);
  }

  private DeviceStatistics devices() {
    while (true) {
      DeviceStatistics sum = faults.find(ports, Ports::statistics);
      if (sum != null) {
        return sum;
      }
      if (!connections.giveUpWhoseMemoryIsLost()) {
        throw faults.fault();
      }
    }
  }
}
