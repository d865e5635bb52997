package io.erda.server.engine.service;

import io.erda.logstore.Extent;
import io.erda.logstore.FileSupply;
import io.erda.logstore.LeaseResult;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.server.engine.files.RootFile;
import io.erda.server.engine.publishing.Publication;
import io.erda.server.engine.publishing.Reservation;
import io.erda.server.engine.store.StoreFailures;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The leases of the log's space: grants extents to clients, ends them, and makes requests wait when
 * there is no space. Every reservation is begun and ended by this class. One thread.
 */
final class LeaseGrants {
  /**
   * While too many bytes are leased, an extent ends when it has had no publication for this many
   * nanoseconds.
   */
  private static final long SCARCE_IDLE_NS = 100_000_000L;

  /** The quota of a client or a user holds at least this many extents. */
  private static final int EXTENTS_IN_QUOTA = 4;

  private final LogStore log;
  private final RootFile root;
  private final Publication publication;
  private final FileSupply supply;
  private final ServiceOptions options;
  private final LongSupplier nanoTime;
  private final StoreFailures failures;
  private final RegionFiles files;
  private final SpaceRefusals refusals;
  private final ClientConnections connections;
  private final IntPredicate cleaningHelps;

  /** The most bytes that are leased to a client. */
  private final long bytesPerClient;

  private final LeaseQueue waiting = new LeaseQueue();

  /** Reservations that have ended and still contain undecided announcements. */
  private final Set<Reservation> ending = new LinkedHashSet<>();

  private final Publishing publishing;
  private final Supplier<ClientCommits> commits;
  private long lastReservation;
  private long excessEnded;

  /**
   * @param publishing finishes the publications in an extent before the extent ends
   * @param cleaningHelps whether cleaning may give a head the space that a client waits for
   * @param commits receives extents that are granted and ended
   */
  LeaseGrants(
      LogStore log,
      RootFile root,
      Publication publication,
      ServiceOptions options,
      LongSupplier nanoTime,
      StoreFailures failures,
      RegionFiles files,
      SpaceRefusals refusals,
      ClientConnections connections,
      Publishing publishing,
      IntPredicate cleaningHelps,
      Supplier<ClientCommits> commits) {
    this.log = log;
    this.root = root;
    this.publication = publication;
    this.supply = log.files();
    this.options = options;
    this.nanoTime = nanoTime;
    this.failures = failures;
    this.files = files;
    this.refusals = refusals;
    this.connections = connections;
    this.cleaningHelps = cleaningHelps;
    this.commits = commits;
    this.publishing = publishing;
    this.bytesPerClient = options.limits().leasedBytesPerClient();
    this.lastReservation = root.incarnation() << 40;
  }

  void onLease(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.LEASE_REQUEST_BYTES) {
      connection.respond(slot, Message.LEASE, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    int head = Message.getInt(in, at + Message.LEASE_HEAD);
    int bytesMin = Message.getInt(in, at + Message.LEASE_BYTES_MIN);
    if (head < 0 || head >= connection.extentBytes.length || bytesMin <= 0) {
      connection.respond(slot, Message.LEASE, Result.BAD_REQUEST, Message.HEADER_BYTES);
    } else if (bytesMin > log.geometry().objectBytesMax()) {
      connection.respond(slot, Message.LEASE, Result.TOO_LARGE, Message.HEADER_BYTES);
    } else if (failures.any()) {
      connection.refuse(slot, Message.LEASE, failures.refusal(), failures.reason());
    } else {
      long untilNs = nanoTime.getAsLong() + options.cleaning().leaseWaitNs();
      lease(
          new LeaseQueue.Waiting(
              connection,
              slot,
              head,
              ObjectLayout.padded(bytesMin),
              untilNs,
              supply.failures() + (supply.making() ? 1 : 0)));
    }
  }

  private void lease(LeaseQueue.Waiting request) {
    Connection connection = request.connection();
    int slot = request.slot();
    int head = request.head();
    int bytesMin = request.bytesMin();
    int wanted =
        Math.max(bytesMin, Math.min(connection.extentBytes[head], options.extentBytesMax()));
    if (failures.any()) {
      connection.refuse(slot, Message.LEASE, failures.refusal(), failures.reason());
      return;
    }
    long share = Math.min(log.openBytesMax(), bytesPerClient);
    endExcess(connection.reservations.takeExcess(bytesMin, share));
    String why = whyOverQuota(connection, head, bytesMin);
    if (why != null) {
      refusals.addOverQuota(connection, slot, Message.LEASE, head, bytesMin, why);
      return;
    }
    long atMost =
        Math.min(share - connection.reservations.openBytes(), extentBytesMax(connection.share));
    int bytes = (int) Math.min(wanted, Math.max(bytesMin, atMost));
    LeaseResult result = failures.result(() -> take(request, bytes));
    switch (result) {
      case null -> connection.refuse(slot, Message.LEASE, failures.refusal(), failures.reason());
      case LeaseResult.Leased(Extent extent) -> {
        connection.extentBytes[head] = Math.min(2 * bytes, options.extentBytesMax());
        leased(connection, slot, extent);
      }
      case LeaseResult.NotReady notReady -> waiting.add(request);
      case LeaseResult.LogFull full -> {
        if (mayWait(request) && cleaningHelps.test(head)) {
          waiting.add(request);
        } else {
          refuse(request, Result.LOG_FULL, "LOG");
        }
      }
      case LeaseResult.NotNow not ->
          connection.refuse(slot, Message.LEASE, Result.NOT_NOW, not.message());
      case LeaseResult.DiskFull full -> {
        if (mayWait(request) && (cleaningHelps.test(head) || files.comes())) {
          waiting.add(request);
        } else if (full.ofFileSize()) {
          refusals.add("FILE", connection, head, bytesMin);
          connection.refuse(slot, Message.LEASE, Result.DISK_FULL, full.message());
        } else {
          refuse(request, Result.DISK_FULL, "DISK");
        }
      }
    }
  }

  private void endExcess(List<Reservation> excess) {
    excess.forEach(this::end);
    excessEnded += excess.size();
  }

  /**
   * The largest extent: a part of the quota, so that the next one fits beside those that are still
   * written to.
   */
  private long extentBytesMax(UserShare user) {
    long ofUser = (user.leasedBytesMax - user.leasedBytes) / EXTENTS_IN_QUOTA;
    return Math.min(bytesPerClient / EXTENTS_IN_QUOTA, ofUser) & -ObjectLayout.ALIGNMENT;
  }

  /**
   * Returns in words why a client gets no more space of the log; null when it gets space. A client
   * without an extent always gets room for one object. Before the server refuses a client, it ends
   * extents that the client does not need, and extents that other clients of the user have not used
   * lately.
   */
  private String whyOverQuota(Connection connection, int head, int bytes) {
    Reservations own = connection.reservations;
    long nowNs = nanoTime.getAsLong();
    if (own.openBytes() + bytes > bytesPerClient) {
      endExcess(own.takeAllBut(head));
      endExcess(own.takeUnusedFor(SCARCE_IDLE_NS, nowNs));
      if (!own.isEmpty() && own.openBytes() + bytes > bytesPerClient) {
        return "the server leases at most %d bytes of the log to a client"
            .formatted(bytesPerClient);
      }
    }
    UserShare user = connection.share;
    if (hasTooMuch(user, bytes)) {
      endExcess(own.takeAllBut(head));
      for (Connection each : connections.all()) {
        if (each.share == user) {
          endExcess(each.reservations.takeUnusedFor(SCARCE_IDLE_NS, nowNs));
        }
      }
      if (hasTooMuch(user, bytes)) {
        return "the server leases at most %d bytes of the log to the clients of one user"
            .formatted(user.leasedBytesMax);
      }
    }
    return null;
  }

  private static boolean hasTooMuch(UserShare user, int bytes) {
    return user.leasedBytes > 0 && user.leasedBytes + bytes > user.leasedBytesMax;
  }

  private LeaseResult take(LeaseQueue.Waiting request, int bytes) {
    return supply.failures() <= request.failures()
        ? log.lease(request.head(), request.bytesMin(), bytes)
        : log.leaseAtHand(request.head(), request.bytesMin(), bytes);
  }

  private boolean mayWait(LeaseQueue.Waiting request) {
    return nanoTime.getAsLong() - request.untilNs() < 0;
  }

  private void refuse(LeaseQueue.Waiting request, int result, String full) {
    refusals.add(full, request.connection(), request.head(), request.bytesMin());
    request.connection().respond(request.slot(), Message.LEASE, result, Message.HEADER_BYTES);
  }

  private void leased(Connection connection, int slot, Extent extent) {
    Reservation reservation =
        new Reservation(
            ++lastReservation,
            extent,
            connection.port.grant(connection.queuePair, extent),
            nanoTime.getAsLong());
    connection.reservations.add(reservation);
    commits.get().opened(connection, reservation);
    MemorySegment out = connection.buffers();
    long at = Connection.responseAt(slot);
    Message.putLong(out, at + Message.LEASED_RESERVATION, reservation.id);
    Message.putLong(out, at + Message.LEASED_EPOCH, root.epoch());
    Message.putInt(out, at + Message.LEASED_REGION_INDEX, extent.region().index());
    Message.putInt(out, at + Message.LEASED_GENERATION, extent.region().generation());
    Message.putLong(out, at + Message.LEASED_PLACE, extent.place());
    Message.putLong(out, at + Message.LEASED_LENGTH, extent.length());
    Message.putLong(out, at + Message.LEASED_KEY, reservation.key);
    connection.respond(slot, Message.LEASE, Result.OK, Message.LEASE_RESPONSE_BYTES);
  }

  void onEnd(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.END_REQUEST_BYTES) {
      connection.respond(slot, Message.END, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    Reservation reservation =
        connection.reservations.remove(Message.getLong(in, at + Message.END_RESERVATION));
    if (reservation != null) {
      end(reservation);
    }
    int result = reservation == null ? Result.NO_RESERVATION : Result.OK;
    connection.respond(slot, Message.END, result, Message.END_RESPONSE_BYTES);
  }

  /** Tries the waiting requests again. Returns how many were answered. */
  int answerWaiting() {
    if (waiting.isEmpty()) {
      return 0;
    }
    List<LeaseQueue.Waiting> all = waiting.takeAll();
    for (LeaseQueue.Waiting each : all) {
      lease(each);
    }
    return all.size() - waiting.size();
  }

  /** Whether a request waits for space. */
  boolean anyWaits() {
    return !waiting.isEmpty();
  }

  /** Number of requests that wait for space. */
  int waiting() {
    return waiting.size();
  }

  /** Number of extents that were ended because their client held more than its share. */
  long excessEnded() {
    return excessEnded;
  }

  /**
   * Ends an extent. If its publications can't be made durable it stays open, so that the next
   * recovery scans it; it also stays open while it contains undecided announcements.
   */
  private void end(Reservation reservation) {
    if (reservation.undecided > 0) {
      reservation.endsLater = true;
      ending.add(reservation);
      return;
    }
    // The publications in the extent are finished first, which may fail.
    if (!failures.any() && failures.attempt(() -> settle(reservation.extent)) && !failures.any()) {
      failures.attempt(() -> log.end(reservation.extent));
    }
  }

  /** An extent of a client has ended, which may have undecided announcements. */
  void ended(Connection connection, Reservation reservation) {
    commits.get().ended(connection, reservation);
  }

  /** Notes that an announcement in a reservation is decided. */
  void decided(Reservation reservation) {
    if (reservation.endsLater && reservation.undecided == 0) {
      reservation.endsLater = false;
      ending.remove(reservation);
      end(reservation);
    }
  }

  private void settle(Extent extent) {
    publishing.finish(extent);
    publication.settle(extent);
  }

  /**
   * Ends every reservation in a region. Unpublished objects in the region are never published from
   * then on. A word already names each announced object in the region, so the cleaner finds these
   * objects through the words.
   */
  void endIn(Region region) {
    publishing.finish(region);
    publication.settle();
    if (failures.any()) {
      return;
    }
    for (Connection connection : connections.all()) {
      for (Reservation reservation : connection.reservations.takeIn(region)) {
        log.end(reservation.extent);
      }
    }
    for (Reservation reservation : List.copyOf(ending)) {
      if (reservation.extent.region() == region) {
        reservation.endsLater = false;
        ending.remove(reservation);
        log.end(reservation.extent);
      }
    }
  }

  /** Ends extents without a publication for too long. */
  void endIdle(long nowNs) {
    long idleNs =
        log.openBytes() > log.openBytesMax()
            ? Math.min(SCARCE_IDLE_NS, options.reservationIdleNs())
            : options.reservationIdleNs();
    List<Connection> all = connections.all();
    for (int i = 0; i < all.size(); i++) {
      all.get(i).reservations.takeUnusedFor(idleNs, nowNs).forEach(this::end);
    }
  }

  /** Ends the reservations of a client, and drops its waiting requests. */
  void leave(Connection connection) {
    connection.reservations.takeAll().forEach(this::end);
    waiting.gone(connection);
  }
}
