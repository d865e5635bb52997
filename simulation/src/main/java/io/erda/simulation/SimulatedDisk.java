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
 * The persistent memory of one host: what outlives its processes, and the faults that strike it.
 *
 * <p>At most one process at a time is meant to store here; when it crashes, its incarnation ends
 * and {@link #directory()} gives the next one a view. The order of a life: {@code directory()},
 * work, {@link SimulatedCrash} out of a store or a decision of the driver, {@link #processCrash()}
 * or {@link #powerFailure}, {@code directory()} again. One thread; only stores, flushes and drains
 * may come from several.
 */
public final class SimulatedDisk {
  /** Counts power failures, from 1. */
  private int boot = 1;

  /** What a requested crash counts. */
  public enum Event {
    STORE,
    FLUSH,
    DRAIN,
    /** Creation, renaming, deletion, synchronisation, and that a file becomes longer. */
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

  /** Every file that may be mapped: by address, so that a NIC finds what it was given. */
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

  /** Drains until one fails; 0: none is to, or not before {@link #failureAim} was met. */
  private long drainsToFailure;

  private Aim failureAim;

  /** Events at {@link #failureAim} until it was met. */
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
   * From now on views are those of ordinary files, as a page cache lies over them: a view, and what
   * is opened through it, makes nothing durable until it is asked for the promise ({@link
   * io.erda.pmem.MemoryDirectory#promise}). So one disk can be opened with and without the promise
   * in turn. REQUIRES a domain in which a drain makes something durable.
   */
  public void ordinaryFiles() {
    if (!domain.drainsToDurable() || domain.durableWhenVisible()) {
      throw new IllegalStateException("drains make no difference in " + domain);
    }
    ordinaryFiles = true;
  }

  /** Whether a view promises what the domain can keep without being asked. */
  boolean promisesUnasked() {
    return !ordinaryFiles;
  }

  /** What power failures spare. */
  public PersistenceDomain domain() {
    return domain;
  }

  /**
   * A view for the process that lives now. Its memories are confined to the thread that opens them.
   */
  public SimulatedDirectory directory() {
    return new SimulatedDirectory(this, incarnation, false);
  }

  /**
   * As {@link #directory()}, with memories that several threads may reach; the simulation itself is
   * still no thread's but one's.
   */
  public SimulatedDirectory sharedDirectory() {
    return new SimulatedDirectory(this, incarnation, true);
  }

  /**
   * Creations beyond this sum of lengths are refused; 1 GiB from the start. Names count, not
   * mappings.
   */
  public void limit(long bytes) {
    capacityBytes = bytes;
  }

  /** What may still be created. */
  public long usableBytes() {
    return Math.max(0, capacityBytes - usedBytes());
  }

  /** The sum of lengths that {@link #limit} is about. */
  public long usedBytes() {
    return files.values().stream().mapToLong(SimulatedFile::length).sum();
  }

  // Faults

  /**
   * The process crashes inside its {@code count}-th event from now, 1 being the next. A request
   * made before is forgotten.
   */
  public void crashAfter(long count) {
    crashAfter(null, count);
  }

  /** As {@link #crashAfter(long)}, counting events of one kind only; any kind where it is null. */
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
   * whose name begins so.
   *
   * @param prefix of the file's name; {@code ""} for any file, and for changes of the directory
   * @param from and {@code to} where in the file a store or flush begins, bytes; a drain has no
   *     place and counts as 0
   * @param count events there until it strikes, 1 being the next
   * @param further events of any kind after that one; of a failure, drains
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

  /** The process crashes at a place. A request made before is forgotten. */
  public void crashAt(Aim where) {
    crashAt = null;
    aim = where;
    eventsToCrash = where.count;
  }

  /**
   * What happens while a process waits in a drain, before what was flushed is durable: others go
   * on, and one of them may end the process.
   */
  public void onDrain(Runnable meanwhile) {
    this.meanwhile = meanwhile;
  }

  /** A process waits in a drain. */
  void waits(long ofIncarnation) {
    meanwhile.run();
    if (!buried && ofIncarnation != incarnation) {
      throw new SimulatedCrash("the process ended while it waited");
    }
  }

  /** The process looks twice at what others may store into: they go on between the two. */
  public void looks() {
    if (!buried) {
      waits(incarnation);
    }
  }

  /**
   * The device fails at the {@code count}-th drain from now of what is to survive a power failure:
   * it throws, and so does every later one of that file, until the process ends.
   */
  public void failDrain(long count) {
    failureAim = null;
    drainsToFailure = count;
  }

  /** As {@link #failDrain}, at the next drain, or a further one, after something at a place. */
  public void failDrainAfter(Aim where) {
    drainsToFailure = 0;
    failureAim = where;
    eventsToFailure = where.count;
  }

  /** Files whose removal fails from now on, by name: they stay as they are. */
  public void failRemovals(Predicate<String> of) {
    removalFails = of;
  }

  /** Whether a drain has failed in this process. */
  public boolean hasDrainFailed() {
    return !failedDrains.isEmpty();
  }

  /** The device is as it was before. */
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

  /** Forgets a requested crash. */
  public void crashNever() {
    eventsToCrash = 0;
    aim = null;
  }

  /**
   * Where crashes strike is noted, and every event's place is told. Slow: for a run now and then.
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

  /** The process ends: everything visible stays as it is, its views are dead, the lock is free. */
  public void processCrash() {
    byAddress.values().forEach(SimulatedFile::processCrash);
    endIncarnation();
  }

  /**
   * The power fails: of every word stored and not durable the seed decides; of changes of names not
   * synchronised a seeded part is lost, in order of time or not. Then the host is as after {@link
   * #processCrash()}. Returns how many words were lost.
   */
  public int powerFailure(RandomGenerator seeded) {
    boot++;
    restoreNames(seeded);
    int lost = 0;
    // In the order they were made: addresses are the machine's, and a seed must mean the same run.
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
    // A lost change before may have left another file under the name: only what was meant goes.
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
   * The simulation is over, and nobody looks at this disk any more: dead processes may store again,
   * so that what they left can be closed and gives back its memory.
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

  /** A file that no process has open is gone. */
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
   * The word that a power failure in which everything is lost would leave at an 8-aligned offset.
   */
  public long durableWord(String name, long offset) throws NoSuchFileException {
    return find(name).durableWord(offset);
  }

  /** What everyone sees of a file, not to be stored to; null where there is none. */
  public MemorySegment image(String name) {
    SimulatedFile file = files.get(name);
    return file == null ? null : file.image.asSlice(0, file.length()).asReadOnly();
  }

  /** Whether all of a stretch that is seen would survive every power failure from now on. */
  public boolean settled(String name, long offset, long bytes) {
    SimulatedFile file = files.get(name);
    return file != null && file.settled(offset, bytes);
  }

  /** Words that a power failure now might lose. */
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

  // For the views

  /**
   * One event of a process. Returns whether the requested crash strikes in it: the caller does a
   * part and calls {@link #strike()}.
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

  /** The aim was met: what is left of it are further events of any kind. */
  private boolean strikes() {
    if (aim == null || aim.further == 0) {
      return true;
    }
    eventsToCrash = aim.further;
    aim = null;
    crashAt = null;
    return false;
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
   * A file becomes longer in place, in two steps: any length in between may be what a crash leaves,
   * or a power failure where it is not promised that it is survived.
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

  /** Makes the names durable, where that is promised. */
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
   * Every file and name as it is seen, for good; before a crash in the middle of it, a part of the
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

  /** The file that holds this memory, or null where it is nobody's: ordinary memory. */
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

  int boot() {
    return boot;
  }
}
