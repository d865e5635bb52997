package io.erda.server.engine.service;

import io.erda.cleaner.LiveBytes;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.logstore.Region;
import io.erda.protocol.Commits;
import io.erda.protocol.Message;
import io.erda.server.engine.files.CommitsFile;
import io.erda.server.engine.files.CommitsFile.Standing;
import io.erda.server.engine.publishing.Reservation;
import io.erda.server.engine.store.LateCommits;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreFailures;
import io.erda.server.engine.store.StoreWriter;
import io.erda.server.engine.tables.PutCounts;
import io.erda.server.engine.tables.Tables;
import java.util.List;
import java.util.Objects;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * The clients of other processes that commit updates and deletes by themselves, between two steps
 * of the server (protocol's {@code FORMAT.md}, "Commits"). Each has a line in a file that it maps.
 *
 * <p>{@link #begin} begins a step: it ends all commits, waits for those that are under way, for a
 * bounded time, and takes note of what clients have done. A client whose commit does not end was
 * stopped in it, and is defeated: {@link LateCommits}. {@link #end} lets clients commit again.
 *
 * <p>Does nothing until {@link #open}. One thread. Owns the file.
 */
final class ClientCommits {
  /** How long a step waits for all commits under way together. */
  private static final long WAIT_NS = 10_000_000;

  private static final int SPINS = 1_000;
  private static final long PAUSE_NS = 20_000;

  /**
   * While so many clients are stopped within a commit, nobody commits. Each entry has at least one
   * word more for the same version: {@link io.erda.hashtable.VersionWord#same}.
   */
  private static final int STALLED_MAX = 3;

  /** A line gets its sums anew when so many of them are in use. */
  private static final int SUMS_MAX = Commits.SUMS / 2;

  /** The line of one client. */
  private static final class Line {
    final int number;
    final long at;

    /** Null while nobody has the line. */
    Connection connection;

    /** Whether the connection has ended. Its client may still be in the middle of a commit. */
    boolean left;

    /** The record that has stood for too long; null when there is none. */
    Standing stalled;

    // These are the client's sums when the server last took note of them.

    long puts;
    long deletes;
    long bytes;
    final long[] regions = new long[Commits.SUMS];
    final long[] sums = new long[Commits.SUMS];
    final Reservation[] leases = new Reservation[Commits.LEASES];

    Line(int number) {
      this.number = number;
      this.at = Commits.line(number);
    }
  }

  private final StoreEngine engine;
  private final LogStore log;
  private final LogGeometry geometry;
  private final Tables tables;
  private final LiveBytes live;
  private final PutCounts counts;
  private final StoreFailures failures;
  private final RequestDispatch requests;
  private final Answers answers;
  private final LongSupplier nanoTime;
  private final LongConsumer parking;
  private final LongSupplier strangers;

  /** Null while no client commits. */
  private CommitsFile file;

  /** The number of the turn, as it was stored last. */
  private long turn;

  private final Line[] lines = new Line[Commits.LINES];
  private int used;
  private List<Standing> stalled = List.of();
  private long defeated;

  /** Whether a commit could not be defeated, which no client of this version causes. */
  private boolean undefeated;

  private final Runnable closing = this::makeOdd;
  private final Runnable beginning = this::endCommits;
  private final Runnable noting = this::takeNotes;
  private final IntSupplier counting;
  private final Runnable ending = this::letCommit;
  private final Runnable tending = this::freeLines;

  /**
   * @param parking lets some nanoseconds pass
   * @param strangers how many clients without a connection may still be in the middle of a commit
   */
  ClientCommits(
      StoreEngine engine,
      StoreWriter writer,
      StoreFailures failures,
      RequestDispatch requests,
      Answers answers,
      LongSupplier nanoTime,
      LongConsumer parking,
      LongSupplier strangers) {
    this.engine = engine;
    this.log = engine.log();
    this.geometry = log.geometry();
    this.tables = engine.tables();
    this.live = writer.live();
    this.counting = live::doWork;
    this.counts = writer.puts();
    this.failures = failures;
    this.requests = requests;
    this.answers = answers;
    this.nanoTime = nanoTime;
    this.parking = parking;
    this.strangers = strangers;
  }

  /** Makes the file, if there is room, and no client of an earlier server is in the way. */
  void open() {
    file = failures.result(() -> LateCommits.newFile(engine));
    if (file != null) {
      turn = file.turn();
      failures.lookAt(file.memory().backing());
    }
  }

  /** Null while no client commits. */
  CommitsFile file() {
    return file;
  }

  /** How many clients have a line. */
  long committers() {
    return used;
  }

  /** How many clients are stopped within a commit. */
  long stalled() {
    return stalled.size();
  }

  /** How often a commit was ended because its client was stopped. */
  long defeated() {
    return defeated;
  }

  // The turn.

  /** Begins a step: from now on, and until {@link #end}, no client commits. */
  void begin() {
    if (used == 0) {
      return;
    }
    if (failures.any()) {
      if (!Commits.isOdd(turn)) {
        failures.attempt(closing);
      }
    } else if (failures.attempt(beginning)) {
      failures.attempt(noting);
    }
  }

  private void makeOdd() {
    turn++;
    file.storeTurn(turn);
  }

  /** Ends a step. */
  void end() {
    if (used > 0 && live.isCounting() && !failures.any()) {
      // The turn stays odd until all live bytes are counted.
      failures.step(counting);
    }
    if (used > 0 && Commits.isOdd(turn) && mayCommit()) {
      failures.attempt(ending);
    }
  }

  private boolean mayCommit() {
    return !failures.any()
        && !engine.closed()
        && !undefeated
        && tables.next() == null
        && stalled.size() < STALLED_MAX
        && !live.isCounting();
  }

  private void letCommit() {
    file.store(Commits.TABLE_OFFSET, tables.current().number());
    file.store(Commits.TURN_OFFSET, turn + 1);
    turn++;
  }

  private void endCommits() {
    boolean ends = !Commits.isOdd(turn);
    if (ends) {
      makeOdd();
    }
    boolean changed = false;
    long begunNs = 0;
    for (Line line : lines) {
      if (line == null || line.connection == null) {
        continue;
      }
      long serial = file.serial(line.number);
      if (line.stalled != null && serial != line.stalled.serial()) {
        line.stalled = null;
        changed = true;
      }
      // A client that stored its record after the turn became odd sees that, and clears it.
      if (ends && serial != 0 && line.stalled == null) {
        begunNs = begunNs == 0 ? nanoTime.getAsLong() : begunNs;
        changed |= !isCleared(line, serial, begunNs);
      }
    }
    if (changed) {
      keep();
    }
  }

  /** Waits until a record is cleared. Returns false when its client is stopped. */
  private boolean isCleared(Line line, long serial, long begunNs) {
    for (int i = 0; file.serial(line.number) == serial; i++) {
      if (nanoTime.getAsLong() - begunNs > WAIT_NS) {
        Standing standing = file.standing(line.number);
        if (standing == null || standing.serial() != serial) {
          return true;
        }
        line.stalled = standing;
        return false;
      }
      pause(i);
    }
    return true;
  }

  private void pause(int tries) {
    if (tries < SPINS) {
      Thread.onSpinWait();
    } else {
      parking.accept(PAUSE_NS);
    }
  }

  /** Defeats the commits whose records have stood for too long. */
  private void keep() {
    List<Standing> before = stalled;
    stalled =
        Stream.of(lines)
            .filter(Objects::nonNull)
            .map(line -> line.stalled)
            .filter(Objects::nonNull)
            .toList();
    LateCommits.keep(stalled, tables, log);
    for (Standing each : stalled) {
      if (!before.contains(each)) {
        defeated++;
        undefeated |= !defeat(each);
      }
    }
  }

  private boolean defeat(Standing standing) {
    for (Tables.Generation each : tables.inUse()) {
      if (each.number() == standing.table()) {
        return LateCommits.defeat(each.memory(), standing, stalled);
      }
    }
    return true;
  }

  // Taking note of the commits.

  private void takeNotes() {
    for (Line line : lines) {
      if (line != null && line.connection != null && !line.left) {
        takeNote(line);
      }
    }
  }

  private void takeNote(Line line) {
    long puts = file.load(line.at + Commits.PUTS);
    long deletes = file.load(line.at + Commits.DELETES);
    if (puts == line.puts && deletes == line.deletes) {
      return;
    }
    long bytes = file.load(line.at + Commits.PUT_BYTES);
    long morePuts = puts - line.puts;
    long moreDeletes = deletes - line.deletes;
    counts.addShared(morePuts, moreDeletes, bytes - line.bytes);
    requests.publishedNow(morePuts + moreDeletes);
    answers.done(0, morePuts);
    answers.done(Message.FLAG_DELETE, moreDeletes);
    line.puts = puts;
    line.deletes = deletes;
    line.bytes = bytes;
    noteLive(line);
    for (int i = 0; i < Commits.LEASES; i++) {
      if (line.leases[i] != null) {
        noteLease(line, i);
      }
    }
  }

  private void noteLive(Line line) {
    int regions = 0;
    for (int i = 0; i < Commits.SUMS; i++) {
      long at = Commits.sum(line.at, i);
      long region = file.load(at);
      if (region == 0) {
        continue;
      }
      regions++;
      if (region != line.regions[i]) {
        line.regions[i] = region;
        line.sums[i] = 0;
      }
      long sum = file.load(at + Commits.SECOND);
      change(region, sum - line.sums[i]);
      line.sums[i] = sum;
    }
    if (regions > SUMS_MAX && file.serial(line.number) == 0) {
      clearSums(line);
    }
  }

  private void change(long region, long by) {
    int index = Commits.indexOf(region);
    if (by == 0 || !live.known() || index < 0 || index >= geometry.regionsPerHeadMax()) {
      return;
    }
    Region found = log.region(Commits.headOf(region), geometry.offset(index, 0));
    if (found != null) {
      live.change(found.slot(), by);
    }
  }

  private void clearSums(Line line) {
    for (int i = 0; i < Commits.SUMS; i++) {
      long at = Commits.sum(line.at, i);
      file.store(at, 0);
      file.store(at + Commits.SECOND, 0);
      line.regions[i] = 0;
      line.sums[i] = 0;
    }
  }

  private void noteLease(Line line, int number) {
    Reservation reservation = line.leases[number];
    long to = file.load(Commits.lease(line.at, number) + Commits.SECOND);
    if (reservation.hasCommitted(to)) {
      log.settle(reservation.extent, to);
    }
  }

  // Lines and leases.

  /** Takes a line for a client that connects; −1 when there is none. */
  int take() {
    if (file == null || failures.any()) {
      return -1;
    }
    for (int i = 0; i < lines.length; i++) {
      if (lines[i] == null || lines[i].connection == null) {
        int number = i;
        return failures.attempt(() -> zero(number)) && !failures.any() ? i : -1;
      }
    }
    return -1;
  }

  private void zero(int line) {
    long at = Commits.line(line);
    for (long word = at; word < at + Commits.LINE_BYTES; word += Long.BYTES) {
      if (file.load(word) != 0) {
        file.store(word, 0);
      }
    }
  }

  /** Gives a line that was taken to a client. */
  void join(int line, Connection connection) {
    lines[line] = new Line(line);
    lines[line].connection = connection;
    connection.commitsLine = line;
    used++;
  }

  /** The connection of a client has ended. Its line is another's when the client has left. */
  void leave(Connection connection) {
    if (connection.commitsLine >= 0) {
      lines[connection.commitsLine].left = true;
    }
  }

  /** Frees the lines of clients that have left. To be called now and then. */
  void tend() {
    if (used > 0 && !failures.any() && hasLeft() && strangers.getAsLong() == 0) {
      failures.attempt(tending);
    }
  }

  private boolean hasLeft() {
    for (Line line : lines) {
      if (line != null && line.left) {
        return true;
      }
    }
    return false;
  }

  private void freeLines() {
    boolean any = false;
    for (int i = 0; i < lines.length; i++) {
      if (lines[i] != null && lines[i].left) {
        zero(i);
        any |= lines[i].stalled != null;
        lines[i] = null;
        used--;
      }
    }
    if (any) {
      keep();
    }
  }

  /** A client has got an extent, in which it may commit. */
  void opened(Connection connection, Reservation reservation) {
    Line line = connection.commitsLine < 0 ? null : lines[connection.commitsLine];
    if (line == null || failures.any()) {
      return;
    }
    for (int i = 0; i < Commits.LEASES; i++) {
      if (line.leases[i] == null) {
        line.leases[i] = reservation;
        long at = Commits.lease(line.at, i);
        failures.attempt(() -> {
          file.store(at + Commits.SECOND, 0);
          file.store(at, reservation.id);
        });
        return;
      }
    }
  }

  /** An extent of a client ends, so that the client commits nothing in it any more. */
  void ended(Connection connection, Reservation reservation) {
    Line line = connection.commitsLine < 0 ? null : lines[connection.commitsLine];
    if (line == null) {
      return;
    }
    for (int i = 0; i < Commits.LEASES; i++) {
      if (line.leases[i] == reservation) {
        line.leases[i] = null;
        long at = Commits.lease(line.at, i);
        if (!failures.any()) {
          failures.attempt(() -> file.store(at, 0));
        }
      }
    }
  }

  // The end.

  /**
   * Ends all commits before the store is closed. The store has no record of a clean stop then if a
   * client is stopped within its commit: it may still try to change the table.
   *
   * @param inOrder whether the file may be removed; otherwise the next opening looks into it
   */
  void close(boolean inOrder) {
    if (file == null) {
      return;
    }
    boolean over =
        inOrder
            && !engine.isAbandoned()
            && !failures.any()
            && failures.attempt(beginning)
            && failures.attempt(noting)
            && Boolean.TRUE.equals(failures.result(() -> file.standing().isEmpty()));
    if (!over) {
      engine.leaveNoRecord();
    }
    file.close();
    file = null;
    used = 0;
    if (over) {
      LateCommits.removeFile(engine);
    }
  }
}
