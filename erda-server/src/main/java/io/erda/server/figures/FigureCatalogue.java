package io.erda.server.figures;

import static io.erda.server.figures.StatsFigure.Kind.COUNTER;
import static io.erda.server.figures.StatsFigure.Kind.GAUGE;
import static io.erda.server.figures.StatsFigure.Kind.TEXT;
import static io.erda.server.figures.StatsFigure.Unit.BYTES;
import static io.erda.server.figures.StatsFigure.Unit.FLAG;
import static io.erda.server.figures.StatsFigure.Unit.NANOSECONDS;
import static io.erda.server.figures.StatsFigure.Unit.NONE;
import static io.erda.server.figures.StatsFigure.Unit.NUMBER;
import static io.erda.server.figures.StatsFigure.Unit.PERCENT;
import static io.erda.server.figures.StatsFigure.Unit.PERMILLE;

import io.erda.server.figures.StatsFigure.Unit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The catalogue of every figure that a server has: {@code ./erda stats}, {@code docs/stats.md} and
 * the OpenMetrics endpoint take names, kinds and units from it. A server has no other figures;
 * {@code StatsPageTest} checks that.
 */
public final class FigureCatalogue {
  /**
   * Figures that belong together.
   *
   * @param title a heading
   * @param when the condition under which they exist; empty when they always do
   */
  public record Group(String title, String when, List<StatsFigure> figures) {
    public Group {
      figures = List.copyOf(figures);
    }
  }

  private static final List<Group> GROUPS =
      List.of(
          store(),
          server(),
          clients(),
          requests(),
          tcp(),
          rdma(),
          table(),
          log(),
          cleaning(),
          recovery(),
          memory());

  private static final Map<String, StatsFigure> BY_NAME = byName();
  private static final List<StatsFigure> OTHERS =
      all().stream().filter(each -> each.isFamily() || each.kind() == TEXT).toList();

  private FigureCatalogue() {}

  /** Returns all groups, in the order of the pages. */
  public static List<Group> groups() {
    return GROUPS;
  }

  /** All figures, in that order. */
  public static List<StatsFigure> all() {
    return GROUPS.stream().flatMap(group -> group.figures().stream()).toList();
  }

  /** Returns the figure for a name from a server; null when there is none. */
  public static StatsFigure find(String told) {
    StatsFigure exact = BY_NAME.get(told);
    if (exact != null) {
      return exact;
    }
    for (StatsFigure other : OTHERS) {
      if (other.labels(told) != null) {
        return other;
      }
    }
    return null;
  }

  private static Map<String, StatsFigure> byName() {
    Map<String, StatsFigure> names = new HashMap<>();
    for (StatsFigure figure : all()) {
      if (!figure.isFamily() && figure.kind() != TEXT) {
        names.put(figure.name(), figure);
      }
    }
    return Map.copyOf(names);
  }

  /** Collects one group. */
  private static final class Builder {
    private final List<StatsFigure> figures = new ArrayList<>();

    Builder counter(String name, String meaning) {
      return counter(name, NUMBER, meaning);
    }

    Builder counter(String name, Unit unit, String meaning) {
      figures.add(new StatsFigure(name, COUNTER, unit, meaning));
      return this;
    }

    Builder gauge(String name, String meaning) {
      return gauge(name, NUMBER, meaning);
    }

    Builder gauge(String name, Unit unit, String meaning) {
      figures.add(new StatsFigure(name, GAUGE, unit, meaning));
      return this;
    }

    Builder text(String name, String meaning) {
      figures.add(new StatsFigure(name, TEXT, NONE, meaning));
      return this;
    }

    Group group(String title, String when) {
      return new Group(title, when, figures);
    }
  }

  private static Group store() {
    return new Builder()
        .gauge(
            "store.incarnation",
            "how many servers have served this store; a reader that knows an older number connects"
                + " anew")
        .gauge(
            "store.epoch",
            "version of the map from regions to files; every change of the map adds 1")
        .gauge(
            "store.promise",
            "what an acknowledgement means: 0 the value is never torn, 1 the put survives a kill of"
                + " any process, 2 it survives a power failure")
        .gauge(
            "store.putmode",
            "how puts are done since the store was created: 0 they publish last, 1 they announce"
                + " first")
        .gauge(
            "store.files.left",
            "files that nothing needs any more and that could not be removed; the log says why. It"
                + " is tried again, and the next server's start tries it too")
        .gauge(
            "store.readonly",
            FLAG,
            "1 when something failed that writing would make worse, or the store's directory is not"
                + " found by its name any more: reads go on, writes are refused")
        .gauge(
            "store.unwritten",
            FLAG,
            "1 when the device did not take bytes of the store's files: what was stored last may be"
                + " lost, gets may miss keys, and `store.readonly` is 1")
        .text("store.readonly.reason", "the reason why `store.readonly` is 1; absent while it is 0")
        .gauge(
            "disk.bytes.free",
            BYTES,
            "bytes that the store's file system has free for the server's user; −1 when the file"
                + " system does not say")
        .gauge(
            "disk.bytes.total",
            BYTES,
            "size of the store's file system; −1 when the file system does not say")
        .group("The store", "");
  }

  private static Group server() {
    return new Builder()
        .text("server.version", "version of the Erda that serves the store")
        .gauge("server.pid", "process ID of the server")
        .gauge("server.uptime.ns", NANOSECONDS, "time since the server began to serve")
        .counter("server.cpu.ns", NANOSECONDS, "processor time of the server's process")
        .counter(
            "server.work.ns",
            NANOSECONDS,
            "time that the server's thread took for steps that had work; it polls for the rest of"
                + " its time")
        .gauge("server.heap.bytes", BYTES, "bytes of the heap of the server's JVM that are in use")
        .gauge(
            "server.direct.bytes",
            BYTES,
            "bytes outside of the heap that the server's JVM uses, above all for its clients;"
                + " mapped files do not count")
        .gauge(
            "server.memory.bytes",
            BYTES,
            "memory that the server's process may have, page cache included: the machine's memory,"
                + " or the part that a control group allows")
        .gauge(
            "server.pages.alone",
            FLAG,
            "1 when the store's files are larger than half of `server.memory.bytes`; then the"
                + " kernel reads each missing page of theirs alone")
        .group(
            "The server",
            "`server.cpu.ns` is there where the server has a process of its own: not of an embedded"
                + " store. `server.work.ns` is there with `--timed` alone.");
  }

  private static Group clients() {
    return new Builder()
        .gauge("connections", "clients that are connected now")
        .gauge("connections.max", "the most clients that may be connected")
        .counter("connections.accepted", "clients that were let in")
        .counter("connections.refused", "clients that were refused, for any reason")
        .counter(
            "connections.refusals.REASON",
            "clients that were refused for one reason: version (of protocol or layout), promise"
                + " (that the store does not have), store (another one), full (too many), stranger"
                + " (no client of Erda)")
        .counter(
            "connections.refused.user",
            "clients that were refused as too many because their user has all connections that one"
                + " user may have")
        .counter(
            "connections.garbage",
            "clients whose connection was ended because they sent something that is not of the"
                + " protocol")
        .counter(
            "clients.fenced",
            "clients whose connection was ended because they did not write what they had announced")
        .counter(
            "clients.reads",
            "READs that clients did by themselves; the server never sees them otherwise")
        .counter("clients.bytes.read", BYTES, "bytes that clients READ by themselves")
        .counter("clients.writes", "WRITEs that clients did by themselves")
        .counter("clients.bytes.written", BYTES, "bytes that clients WROTE by themselves")
        .counter(
            "clients.bytes.differing",
            BYTES,
            "written bytes that changed what was there; −1 when the server runs without"
                + " `--counted`")
        .group("Clients", "");
  }

  private static Group requests() {
    return new Builder()
        .counter("requests", "messages that came, of every kind")
        .counter(
            "requests.answered.KIND.RESULT",
            "messages that were answered, by what they asked for and what came of it; shown where"
                + " the result is ok or the number is not 0")
        .gauge(
            "requests.time.lease.p50.ns",
            NANOSECONDS,
            "the longest time that the faster half of the requests for space took in the last 10 to"
                + " 20 s, from when the server took a request up to its answer; it is at most an"
                + " eighth too long; −1 when there was no such request")
        .gauge(
            "requests.time.lease.p99.ns",
            NANOSECONDS,
            "the longest time that the fastest 99% of the requests for space took, measured as"
                + " `requests.time.lease.p50.ns` is")
        .gauge(
            "requests.time.put.p50.ns",
            NANOSECONDS,
            "the longest time that the faster half of the puts and deletes took, measured as"
                + " `requests.time.lease.p50.ns` is, but only one in 61 is timed; with `--promise"
                + " power` it includes the wait for the device. An embedded store counts only those"
                + " that the server's thread does")
        .gauge(
            "requests.time.put.p99.ns",
            NANOSECONDS,
            "the longest time that the fastest 99% of the puts and deletes took, measured as"
                + " `requests.time.put.p50.ns` is")
        .counter(
            "requests.refused.full",
            "requests that were refused because log, table or disk was full: those of puts, which"
                + " failed, and those for space of deletes, which are then done without space")
        .counter(
            "requests.refused.quota",
            "requests refused because their client, or its user, has all that the server gives one"
                + " (`--leased-bytes-per-client`, `--operations-per-user` …)")
        .counter(
            "puts",
            "puts that were published or, where puts announce first, committed, which happens up to"
                + " a few milliseconds after they took effect")
        .counter("deletes", "deletes that were published or committed, as puts are")
        .counter(
            "puts.shared",
            "puts and deletes that clients committed by themselves, beside each other: the threads"
                + " of an embedded store, and clients of other processes (`--commits own`); also"
                + " counted as puts or deletes")
        .gauge("committers", "clients of other processes that may commit by themselves")
        .gauge(
            "committers.stalled",
            "clients that were stopped in the middle of a commit, which has no effect; while there"
                + " are three, no client commits by itself")
        .counter(
            "committers.defeated",
            "commits that the server ended because their clients were stopped in the middle")
        .counter(
            "batches.synced",
            "batches of puts and deletes that were made durable together, where that waits for a"
                + " device; 0 where it does not")
        .gauge(
            "puts.undecided",
            "puts that were announced and not committed; always 0 where puts publish last")
        .counter(
            "puts.rolledback",
            "puts that were announced and never written whole: the version before counts")
        .counter(
            "objects.bytes.published",
            BYTES,
            "bytes of the objects that puts and deletes published, with header and padding")
        .group("Requests", "");
  }

  private static Group tcp() {
    return new Builder()
        .counter(
            "tcp.io.cpu.ns",
            NANOSECONDS,
            "processor time of the thread that executes clients' READs and WRITEs")
        .counter(
            "tcp.refused.garbage",
            "connections ended because what they sent is none of this protocol")
        .counter(
            "tcp.refused.versions",
            "connections ended because their client has another version of the frames over TCP")
        .counter(
            "tcp.refused.damaged",
            "connections ended because what came did not have its checksum: bits changed on the way"
                + " from the client to the server")
        .counter(
            "tcp.refused.secret",
            "connections ended because they did not prove the secret, or showed a proof that was"
                + " used before, or because one end has a secret and the other has not")
        .counter(
            "tcp.refused.tls",
            "connections ended because there is no TLS with them: one end has it and the other has"
                + " not, or the client does not believe the server's certificate")
        .counter(
            "tcp.refused.handshakes",
            "connections ended because they took too long to say who they are, or had to make room"
                + " for others")
        .counter(
            "tcp.refused.memory",
            "connections ended because the server's JVM had no memory for them")
        .counter(
            "tcp.refused.accesses",
            "READs and WRITEs refused because they were outside of what their client may reach")
        .group("TCP", "They are there with `--listen` alone.");
  }

  private static Group rdma() {
    return new Builder()
        .counter(
            "rdma.refused.want",
            "connections refused because there was no memory to lock for them, no queue pair of the"
                + " hardware's, or because the kernel failed")
        .gauge(
            "rdma.regions.ondemand",
            "regions registered with on-demand paging, because the kernel pins no memory of their"
                + " files")
        .gauge(
            "rdma.regions.flushable",
            "regions that clients may FLUSH: the device offers it, and it does for their memory all"
                + " that durability takes")
        .group("RDMA", "They are there with `--rdma` alone.");
  }

  private static Group table() {
    return new Builder()
        .gauge(
            "table.entries",
            "entries that are taken: one for each key, deleted keys included until they are swept"
                + " out; −1 while they are counted after a start")
        .gauge("table.buckets", "buckets of the table, or of the new one while it is resized")
        .gauge(
            "table.slots",
            "entries that there is room for: buckets and the end of the last neighbourhood")
        .gauge(
            "table.load.percent",
            PERCENT,
            "taken entries, as a share of the buckets; the table doubles above 50, and halves at 6"
                + " if it began smaller; −1 while the entries are counted after a start")
        .gauge("table.doubling", FLAG, "1 while entries are moved into a table of twice the size")
        .gauge(
            "table.doubling.percent",
            PERCENT,
            "slots of the old table that were moved, as a share of all its slots, in a doubling or"
                + " a halving")
        .counter("table.doublings", "doublings that finished")
        .counter(
            "table.doublings.postponed",
            "times that a doubling or halving had to wait for room on the disk")
        .gauge("table.halving", FLAG, "1 while entries are moved into a table of half the size")
        .counter("table.halvings", "halvings that finished")
        .counter(
            "table.halvings.turned",
            "halvings that went back, because too many keys would have shared a bucket")
        .counter("table.tombstones.emptied", "entries of deleted keys that were swept out")
        .group("The table", "");
  }

  private static Group log() {
    return new Builder()
        .gauge("log.bytes.capacity", BYTES, "the length up to which the log may grow")
        .gauge("log.bytes.linked", BYTES, "bytes of the regions that belong to a head")
        .gauge("log.bytes.used", BYTES, "bytes of linked regions that were handed out")
        .gauge(
            "log.bytes.open",
            BYTES,
            "bytes that are leased to clients which have not written there yet")
        .gauge("log.extents.open", "extents that these bytes lie in")
        .counter(
            "log.extents.ended.excess",
            "extents taken back because one client held more than its share of open space")
        .gauge("log.regions.free", "regions that can still be linked")
        .gauge("log.files.spare", "files kept for the next regions, with their space taken")
        .counter(
            "log.files.failed",
            "times that no file could be made for a next region, for want of space or for another"
                + " reason, which the log says")
        .counter(
            "pages.failures",
            "times that the helper thread which makes pages ready ahead of time failed; puts then"
                + " wait for their pages")
        .group("The log", "");
  }

  private static Group cleaning() {
    return new Builder()
        .gauge(
            "cleaner.phase",
            "0 `idle`; 1 `writers`: waits until no lease of the region is open; 2 `mark`, 3"
                + " `measure`: looks at what lives in it; 4 `merge`, 5 `replicate`: copies. The"
                + " table of `./erda stats` shows the word")
        .gauge("cleaner.progress.permille", PERMILLE, "the part of the current phase that is done")
        .gauge("cleaner.victim.head", "head of the region that is cleaned; −1: none")
        .gauge("cleaner.victim.region", "region that is cleaned; −1: none")
        .gauge("cleaner.asked", FLAG, "1 until what `./erda clean` asked for is done")
        .gauge(
            "cleaner.blocked",
            FLAG,
            "1 when something could be cleaned and the file system has no room for the file of"
                + " another region, which the copies need")
        .counter("cleaner.cleanings", "regions that were cleaned")
        .counter("cleaner.givenup", "regions whose cleaning ended without freeing them")
        .counter(
            "cleaner.bytes.copied",
            BYTES,
            "bytes of the objects that were copied out of cleaned regions")
        .counter("cleaner.bytes.reclaimed", BYTES, "bytes of the regions that were cleaned")
        .gauge(
            "cleaner.regions.damaged", "regions that are kept because something in them is damaged")
        .gauge(
            "cleaner.regions.leaving",
            "regions that were cleaned and whose space some client may still read")
        .gauge(
            "cleaner.leaving.client", "ID of the client that the oldest of them waits for; 0: none")
        .counter(
            "cleaner.leaving.late",
            "regions whose space was taken from clients that did not leave in time")
        .counter("cleaner.regions.released", "regions whose space went back to the file system")
        .counter("cleaner.regions.reused", "regions whose file became another region's")
        .gauge("cleaner.leases.waiting", "requests for space that wait until something is cleaned")
        .gauge(
            "region.HEAD.REGION.live.permille",
            PERMILLE,
            "the part of a region that is live, once the cleaner has looked")
        .gauge(
            "leaving.HEAD.REGION.GENERATION.client.ID.pid",
            "process ID of a client that has not left a cleaned region")
        .group("Cleaning", "");
  }

  private static Group recovery() {
    return new Builder()
        .gauge(
            "recovery.bytes.scanned",
            BYTES,
            "bytes between the water marks, which the opening scanned")
        .gauge("recovery.objects", "whole objects that lay between the water marks")
        .gauge(
            "recovery.committed",
            "objects among them whose words were pending, and which recovery committed")
        .gauge("recovery.cleaning", FLAG, "1 when a cleaning had been interrupted and went on")
        .gauge(
            "recovery.doubling",
            FLAG,
            "1 when a doubling or halving had been interrupted and went on")
        .group("The last opening", "");
  }

  private static Group memory() {
    return new Builder()
        .counter("pmem.stores", "stores of the server to persistent memory")
        .counter("pmem.bytes.stored", BYTES, "bytes that the server stored to persistent memory")
        .counter("pmem.bytes.changed", BYTES, "stored bytes that differ from what was there before")
        .counter("pmem.lines.flushed", "cache lines that the server wrote back")
        .counter("pmem.drains", "times that the server waited for lines it had written back")
        .group("Persistent memory", "They are there with `--counted` alone.");
  }
}
