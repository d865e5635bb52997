package io.erda.simulation;

import io.erda.pmem.OutOfSpaceException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * The persistent memory of one host, which outlives its processes, and its faults.
 *
 * <p>At most one process at a time may store in this memory; when it crashes, its incarnation ends
 * and {@link #directory()} gives the next process a view. The order of calls: {@code directory()},
 * work, {@link SimulatedCrash} in a store, or the driver's decision, {@link #processCrash()} or
 * {@link #powerFailure}, {@code directory()} again. One thread; only stores, flushes and drains may
 * come from several.
 */
public final class SimulatedDisk {
  /** The number of the boot, from 1, which power failures increase. */
  private int boot = 1;

  /** The events that a requested crash counts. */
  public enum Event {
    STORE,
    FLUSH,
    DRAIN,
    /** Creation, renaming, deletion, synchronisation, and lengthening of a file. */
    DIRECTORY
  }

  /**
   * A change of names that a power failure may undo. Both names may be null: a creation has no
   * {@code from}, a deletion no {@code to}.
   */
  private record Change(String from, String to, SimulatedFile file) {}

  final PersistenceDomain domain;
  final RandomGenerator random;

  private final TreeMap<String, SimulatedFile> files = new TreeMap<>();
  private TreeMap<String, SimulatedFile> durableFiles = new TreeMap<>();
  private final List<Change> unsynced = new ArrayList<>();

  /** Every file that may be mapped, by address, so that a NIC finds the file of its memory. */
  private final TreeMap<Long, SimulatedFile> byAddress = new TreeMap<>();

  private long capacityBytes = 1L << 30;
  private long incarnation = 1;
  private boolean struck;
  private boolean buried;
  private long filesMade;
  private long eventsToCrash;
  private Event crashAt;
  private Aim aim;
  private Consumer<String> observer;
  private Runnable meanwhile = () -> {};
  private SimulatedDirectory owner;

  /** Number of drains until one fails; 0: none will, or {@link #failureAim} was not reached yet. */
  private long drainsToFailure;

  private Aim failureAim;

  /** Number of events at {@link #failureAim} until it is reached. */
  private long eventsToFailure;

  /** The files whose drain fails. */
  private final Set<SimulatedFile> failedDrains = new HashSet<>();

  private Predicate<String> removalFails = name -> false;

  private boolean ordinaryFiles;

  private long stores;
  private long bytesStored;
  private long flushes;
  private long drains;
  private long nicWords;
  private long crashes;
  private long wordsLost;

  public SimulatedDisk(PersistenceDomain domain, RandomGenerator random) {
    this.domain = domain;
    this.random = random;
  }

  /**
   * Makes later views those of ordinary files under a page cache: a view, and all memory opened
   * through it, makes nothing durable until it is asked for the promise ({@link
   * io.erda.pmem.MemoryDirectory#promise}). So one disk can be opened with and without the promise
   * in turn. REQUIRES a domain in which a drain makes stores durable.
   */
  public void ordinaryFiles() {
    if (!domain.drainsToDurable() || domain.durableWhenVisible()) {
      throw new IllegalStateException("drains make no difference in " + domain);
    }
    ordinaryFiles = true;
  }

  /** Whether a view keeps the domain's promise without being asked. */
  boolean promisesUnasked() {
    return !ordinaryFiles;
  }

  /** What power failures preserve. */
  public PersistenceDomain domain() {
    return domain;
  }

  /** A view for the current process. Its memories are confined to the thread that opens them. */
  public SimulatedDirectory directory() {
    return new SimulatedDirectory(this, incarnation, false);
  }

  /**
   * As {@link #directory()}, with memories that several threads may access; the simulation itself
   * still belongs to one thread.
   */
  public SimulatedDirectory sharedDirectory() {
    return new SimulatedDirectory(this, incarnation, true);
  }

  /**
   * Refuses creations beyond this sum of lengths; initially 1 GiB. It counts files with names, not
   * mappings.
   */
  public void limit(long bytes) {
    capacityBytes = bytes;
  }

  /** How many bytes may still be created. */
  public long usableBytes() {
    return Math.max(0, capacityBytes - usedBytes());
  }

  /** The sum of lengths that {@link #limit} applies to. */
  public long usedBytes() {
    return files.values().stream().mapToLong(SimulatedFile::length).sum();
  }

  // Faults.

  /**
   * Makes the process crash inside its {@code count}-th event from now, 1 being the next. Replaces
   * an earlier request.
   */
  public void crashAfter(long count) {
    crashAfter(null, count);
  }

  /** As {@link #crashAfter(long)}, counting only events of one kind; any kind when it is null. */
  public void crashAfter(Event kind, long count) {
    if (count < 1) {
      throw new IllegalArgumentException("the " + count + "-th event from now");
    }
    crashAt = kind;
    aim = null;
    eventsToCrash = count;
  }

  /**
   * A place that a crash, or a failure of the device, aims at: stores, flushes and drains of files
   * whose names have a prefix.
   *
   * @param prefix of the file's name; {@code ""} for any file, and for changes of the directory
   * @param from and {@code to} where in the file a store or flush begins, bytes; a drain has no
   *     place and counts as 0
   * @param count the event there at which it strikes, 1 being the next
   * @param further further events of any kind after that one; for a failure, drains
   */
  public record Aim(String prefix, long from, long to, long count, long further) {
    public Aim {
      if (count < 1 || further < 0) {
        throw new IllegalArgumentException("not to come: " + count + ", " + further);
      }
    }

    private boolean isAt(SimulatedFile file, long offset) {
      String name = file == null ? "" : file.name;
      return name.startsWith(prefix) && offset >= from && offset < to;
    }
  }

  /** Makes the process crash at a place. Replaces an earlier request. */
  public void crashAt(Aim where) {
    crashAt = null;
    aim = where;
    eventsToCrash = where.count;
  }

  /**
   * Sets an action for the time in which a process waits in a drain, before the flushed words are
   * durable. Other processes go on then, and one of them may end this process.
   */
  public void onDrain(Runnable meanwhile) {
    this.meanwhile = meanwhile;
  }

  /** Called when a process waits in a drain. */
  void waits(long ofIncarnation) {
    meanwhile.run();
    if (!buried && ofIncarnation != incarnation) {
      throw new SimulatedCrash("the process ended while it waited");
    }
  }

  /**
   * Does something within a step of the living process. Other processes may go on then, and one of
   * them may end this process.
   */
  public void during(Runnable action) {
    long mine = incarnation;
    action.run();
    if (!buried && mine != incarnation) {
      throw new SimulatedCrash("the process ended while it waited");
    }
  }

  /**
   * Called between two loads of memory to which other processes may store, so that these go on
   * between the loads.
   */
  public void looks() {
    if (!buried) {
      waits(incarnation);
    }
  }

  /**
   * Makes the device fail at the {@code count}-th drain from now of memory that must survive a
   * power failure: it throws, and so does every later drain of that file, until the process ends.
   */
  public void failDrain(long count) {
    failureAim = null;
    drainsToFailure = count;
  }

  /** As {@link #failDrain}, counting drains only after an event at a place. */
  public void failDrainAfter(Aim where) {
    drainsToFailure = 0;
    failureAim = where;
    eventsToFailure = where.count;
  }

  /** Makes the removal of files fail from now on, by name: they stay unchanged. */
  public void failRemovals(Predicate<String> of) {
    removalFails = of;
  }

  /** Whether a drain has failed in this process. */
  public boolean hasDrainFailed() {
    return !failedDrains.isEmpty();
  }

  /** Ends the failure of the device. */
  private void repair() {
    failDrain(0);
    failedDrains.clear();
  }

  /** Whether a drain of the file fails. */
  boolean failsDrain(SimulatedFile file) {
    if (drainsToFailure > 0 && --drainsToFailure == 0) {
      failedDrains.add(file);
    }
    return failedDrains.contains(file);
  }

  /** Cancels a requested crash. */
  public void crashNever() {
    eventsToCrash = 0;
    aim = null;
  }

  /**
   * Sets an observer that is told the place of every event, and where crashes strike. Slow: only
   * for some runs.
   */
  public void onEvent(Consumer<String> observer) {
    this.observer = observer;
  }

  /**
   * Whether a requested crash has struck, and neither {@link #processCrash} nor {@link
   * #powerFailure} was called since.
   */
  public boolean struck() {
    return struck;
  }

  /** Ends the process: everything visible stays, its views are dead, the lock is free. */
  public void processCrash() {
    byAddress.values().forEach(SimulatedFile::processCrash);
    endIncarnation();
  }

  /**
   * The power fails: the seed decides which words that were stored and not durable are lost, and
   * which changes of names that were not synchronised, in order of time or not. Then the host is as
   * after {@link #processCrash()}. Returns how many words were lost.
   */
  public int powerFailure(RandomGenerator seeded) {
    boot++;
    restoreNames(seeded);
    int lost = 0;
    // In the order in which they were made: addresses differ between runs, and a seed must always
    // mean the same run.
    for (SimulatedFile file : inOrderMade()) {
      lost += file.powerFailure(seeded);
    }
    wordsLost += lost;
    endIncarnation();
    return lost;
  }

  private List<SimulatedFile> inOrderMade() {
    List<SimulatedFile> made = new ArrayList<>(byAddress.values());
    made.sort(Comparator.comparingLong(file -> file.number));
    return made;
  }

  long nextFileNumber() {
    return ++filesMade;
  }

  private void restoreNames(RandomGenerator seeded) {
    int prefix = seeded.nextInt(unsynced.size() + 1);
    boolean ordered = seeded.nextBoolean();
    for (int i = 0; i < unsynced.size(); i++) {
      if (ordered ? i < prefix : seeded.nextBoolean()) {
        apply(unsynced.get(i), durableFiles);
      }
    }
    unsynced.clear();
    files.clear();
    files.putAll(durableFiles);
    files.forEach((name, file) -> file.name = name);
  }

  private static void apply(Change change, TreeMap<String, SimulatedFile> names) {
    // An earlier change that was lost may have left another file under the name. Only the file of
    // this change is removed.
    if (change.from != null && names.get(change.from) == change.file) {
      names.remove(change.from);
    }
    if (change.to != null) {
      names.put(change.to, change.file);
    }
  }

  private void endIncarnation() {
    incarnation++;
    repair();
    struck = false;
    eventsToCrash = 0;
    aim = null;
    owner = null;
    byAddress.values().retainAll(new HashSet<>(files.values()));
  }

  /** Flips bits of one byte on the medium. */
  public void corrupt(String name, long offset, int xor) throws NoSuchFileException {
    SimulatedFile file = find(name);
    Objects.checkIndex(offset, file.length());
    file.corrupt(offset, xor);
  }

  /**
   * Ends the simulation: dead processes may store again, so that their objects can be closed and
   * their memory released.
   */
  public void bury() {
    buried = true;
  }

  /** Cuts or lengthens a file that no process has open. */
  public void setLength(String name, long length) throws NoSuchFileException {
    SimulatedFile before = find(name);
    SimulatedFile after = before.cut(length);
    files.replace(name, after);
    durableFiles.replaceAll((other, file) -> file == before ? after : file);
    byAddress.remove(before.image.address());
    byAddress.put(after.image.address(), after);
  }

  /** Removes a file that no process has open. */
  public void lose(String name) throws NoSuchFileException {
    SimulatedFile file = find(name);
    files.remove(name);
    durableFiles.values().removeIf(other -> other == file);
  }

  /** Names now, sorted. */
  public List<String> names() {
    return List.copyOf(files.keySet());
  }

  /** The length of a file, bytes. */
  public long length(String name) throws NoSuchFileException {
    return find(name).length();
  }

  /**
   * The word at an 8-aligned offset after a power failure in which everything that is not durable
   * is lost.
   */
  public long durableWord(String name, long offset) throws NoSuchFileException {
    return find(name).durableWord(offset);
  }

  /** The visible bytes of a file, read-only; null when there is no file. */
  public MemorySegment image(String name) {
    SimulatedFile file = files.get(name);
    return file == null ? null : file.image.asSlice(0, file.length()).asReadOnly();
  }

  /** Whether all visible bytes of a range survive every power failure from now on. */
  public boolean settled(String name, long offset, long bytes) {
    SimulatedFile file = files.get(name);
    return file != null && file.settled(offset, bytes);
  }

  /** Number of words that a power failure now might lose. */
  public long unsettledWords() {
    long sum = 0;
    for (SimulatedFile file : byAddress.values()) {
      sum += file.unsettledWords();
    }
    return sum;
  }

  /** Counts since the disk was made. */
  public StoreStatistics statistics() {
    return new StoreStatistics(stores, bytesStored, flushes, drains, nicWords, crashes, wordsLost);
  }

  // Called by the views.

  /**
   * One event of a process. Returns whether the requested crash strikes in it: then the caller does
   * a part of its work and calls {@link #strike()}.
   *
   * @throws SimulatedCrash when the process is dead
   */
  boolean event(long ofIncarnation, Event kind, SimulatedFile file, long offset) {
    if (buried) {
      return false;
    }
    if (struck || ofIncarnation != incarnation) {
      throw new SimulatedCrash(
          "a dead process touches " + (file == null ? "the directory" : file.name));
    }
    if (observer != null) {
      observer.accept(SimulatedCrash.place());
    }
    if (failureAim != null && failureAim.isAt(file, offset) && --eventsToFailure == 0) {
      failDrain(1 + failureAim.further);
    }
    return eventsToCrash > 0 && counts(kind, file, offset) && --eventsToCrash == 0 && strikes();
  }

  private boolean counts(Event kind, SimulatedFile file, long offset) {
    return aim == null ? crashAt == null || crashAt == kind : aim.isAt(file, offset);
  }

  /**
   * Whether a crash strikes: the aim was reached, and the remaining events of any kind have passed.
   */
  private boolean strikes() {
    if (aim == null || aim.further == 0) {
      return true;
    }
    eventsToCrash = aim.further;
    aim = null;
    crashAt = null;
    return false;
  }

  /**
   * Throws again in a process whose code may have caught its crash.
   *
   * @throws SimulatedCrash when a requested crash has struck
   */
  public void requireAlive() {
    if (struck) {
      throw new SimulatedCrash("the process has ended");
    }
  }

  void strike() {
    struck = true;
    crashes++;
    throw new SimulatedCrash("requested");
  }

  SimulatedFile find(String name) throws NoSuchFileException {
    SimulatedFile file = files.get(name);
    if (file == null) {
      throw new NoSuchFileException(name);
    }
    return file;
  }

  SimulatedFile create(long ofIncarnation, String name, long length) throws IOException {
    boolean crash = event(ofIncarnation, Event.DIRECTORY, null, 0);
    if (files.containsKey(name)) {
      throw new FileAlreadyExistsException(name);
    }
    long used = usedBytes();
    if (length > capacityBytes - used) {
      throw new OutOfSpaceException(
          name + ": no room for " + length + " bytes: " + used + " of " + capacityBytes + " in use",
          null);
    }
    SimulatedFile file = new SimulatedFile(this, name, length);
    change(crash, new Change(null, name, file));
    byAddress.put(file.image.address(), file);
    return file;
  }

  /**
   * Lengthens a file in place, in two steps: a crash may leave any length in between, and so may a
   * power failure unless surviving it is promised.
   */
  void lengthen(long ofIncarnation, String name, long length, boolean promised) throws IOException {
    SimulatedFile file = find(name);
    long before = file.length();
    boolean crash = event(ofIncarnation, Event.DIRECTORY, file, 0);
    file.lengthen(random.nextLong(before, Math.max(before, length) + 1));
    if (crash) {
      strike();
    }
    long used = usedBytes();
    if (length - file.length() > capacityBytes - used) {
      throw new OutOfSpaceException(
          name + ": no room for " + length + " bytes: " + used + " of " + capacityBytes + " in use",
          null);
    }
    crash = event(ofIncarnation, Event.DIRECTORY, file, 0);
    file.lengthen(length);
    if (promised && (!crash || random.nextBoolean())) {
      file.settleLength();
    }
    if (crash) {
      strike();
    }
  }

  void delete(long ofIncarnation, String name) throws IOException {
    boolean crash = event(ofIncarnation, Event.DIRECTORY, null, 0);
    SimulatedFile file = files.get(name);
    if (file != null && !crash && removalFails.test(name)) {
      throw new IOException(name + ": unlink: Input/output error");
    }
    if (file != null) {
      change(crash, new Change(name, null, file));
    }
  }

  void rename(long ofIncarnation, String from, String to) throws IOException {
    boolean crash = event(ofIncarnation, Event.DIRECTORY, null, 0);
    SimulatedFile file = find(from);
    change(crash, new Change(from, to, file));
    file.name = to;
  }

  private void change(boolean crash, Change change) {
    if (!crash || random.nextBoolean()) {
      apply(change, files);
      unsynced.add(change);
      if (change.file != null) {
        byAddress.put(change.file.image.address(), change.file);
      }
    }
    if (crash) {
      strike();
    }
  }

  /** Makes the names durable, if that is promised. */
  void sync(long ofIncarnation, boolean promised) {
    boolean crash = event(ofIncarnation, Event.DIRECTORY, null, 0);
    if (promised && (!crash || random.nextBoolean())) {
      unsynced.clear();
      durableFiles = new TreeMap<>(files);
    }
    if (crash) {
      strike();
    }
  }

  boolean lock(SimulatedDirectory view, long ofIncarnation) {
    if (ofIncarnation != incarnation) {
      return false;
    }
    if (owner == null) {
      owner = view;
    }
    return owner == view;
  }

  void unlock(SimulatedDirectory view) {
    if (owner == view) {
      owner = null;
    }
  }

  /**
   * Makes every file and name durable as it is visible; before a crash in the middle, a part of the
   * files.
   */
  void makeDurable(long ofIncarnation) {
    boolean crash = event(ofIncarnation, Event.DIRECTORY, null, 0);
    waits(ofIncarnation);
    for (SimulatedFile file : files.values()) {
      if (!crash || random.nextBoolean()) {
        file.settleAll();
      }
    }
    if (crash) {
      strike();
    }
    unsynced.clear();
    durableFiles = new TreeMap<>(files);
  }

  /** The file that holds this memory, or null for ordinary memory. */
  SimulatedFile fileAt(long address) {
    var entry = byAddress.floorEntry(address);
    return entry != null && address < entry.getKey() + entry.getValue().image.byteSize()
        ? entry.getValue()
        : null;
  }

  void countStore(long bytes) {
    stores++;
    bytesStored += bytes;
  }

  void countFlush() {
    flushes++;
  }

  void countDrain() {
    drains++;
  }

  void countNicWord() {
    nicWords++;
  }

  /**
   * Gives the boot another number, as a container may have one of its own, while nothing is lost.
   */
  public void renumberBoot() {
    boot++;
  }

  int boot() {
    return boot;
  }
}
