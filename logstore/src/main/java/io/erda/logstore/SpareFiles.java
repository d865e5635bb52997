package io.erda.logstore;

import io.erda.pmem.Creation;
import io.erda.pmem.FileErrors;
import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.UnwritableFileSystemException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Files for the next regions, to which no region is linked. A file was either made before it is
 * needed, so that linking only stores a header and a word and renames the file, or it belonged to a
 * region that was cleaned, so that its pages are already in memory.
 *
 * <p>No record names a spare file, so the opening removes spare files that a crash left. Names in
 * the directory: {@code spare-NUMBER} for files that were made, {@code left-GENERATION} for files
 * of regions that were cleaned. Owns the memories it has. One thread.
 */
final class SpareFiles {
  /**
   * How many files may be left behind because they could be neither renamed nor removed, before no
   * more are made.
   */
  private static final int UNNAMED_MAX = 8;

  /** The names of spare files. */
  static final Pattern FILE = Pattern.compile("(spare|left)-[0-9]+");

  record Spare(String name, PersistentMemory memory) {}

  private final MemoryDirectory directory;
  private final Leftovers leftovers;
  private final long bytes;
  private final ArrayDeque<Spare> spares = new ArrayDeque<>();

  /**
   * Wraps the creation of a file that is made in steps; null when a file is made at once when it is
   * needed.
   */
  private UnaryOperator<Creation> ahead;

  private Creation creation;
  private String creating;
  private long next = 1;
  private long failures;
  private String failure;
  private boolean failedLast;
  private boolean outOfSpace;
  private boolean ofFileSize;
  private String trouble;

  /** How many files in a row could not be given the name of a region. */
  private int unnamed;

  SpareFiles(MemoryDirectory directory, Leftovers leftovers, long bytes) {
    this.directory = directory;
    this.leftovers = leftovers;
    this.bytes = bytes;
  }

  static String nameOfLeft(int generation) {
    return "left-" + generation;
  }

  void makeAhead(UnaryOperator<Creation> over) {
    ahead = over;
  }

  int count() {
    return spares.size();
  }

  boolean making() {
    return creation != null;
  }

  /** Whether the last file could not be made for lack of space. */
  boolean outOfSpace() {
    return outOfSpace;
  }

  /** Whether the last file could not be made because a single file may not be so large. */
  boolean ofFileSize() {
    return ofFileSize;
  }

  /** Why the last file could not be made; null when it was made. */
  String trouble() {
    return trouble;
  }

  /** Returns how often a file could not be made, usually for lack of space. */
  long failures() {
    return failures;
  }

  /** Returns the reason of the last failure to make a file. */
  String failure() {
    return failure;
  }

  /** Notes that the disk seems to have room again. */
  void mayHaveRoom() {
    failedLast = false;
  }

  /** Whether the last file could not be made, and {@link #mayHaveRoom} was not called since. */
  boolean failedLast() {
    return failedLast;
  }

  /**
   * Takes the latest spare file, whose pages are the most likely to be in a cache; null when there
   * is none.
   */
  Spare take() {
    return spares.pollLast();
  }

  void keep(Spare spare) {
    assert !spares.contains(spare) : spare.name + " would serve two regions";
    spares.addLast(spare);
  }

  /**
   * Begins to make a file, unless one is being made. Makes it completely when files are not made in
   * steps.
   */
  void make() throws IOException {
    if (creation == null) {
      creating = unusedName();
      creation = directory.creating(creating, bytes);
      creation = ahead == null ? creation : ahead.apply(creation);
    }
    while (ahead == null && creation != null) {
      step();
    }
  }

  /**
   * Returns a name that no file has: a file of an earlier server that could not be removed keeps
   * its name.
   */
  private String unusedName() {
    String name;
    do {
      name = "spare-" + next++;
    } while (isTaken(name));
    return name;
  }

  /** Returns false when the directory can't tell, because then the creation fails. */
  private boolean isTaken(String name) {
    try {
      return directory.exists(name);
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  /** Takes a step of making a file. Returns 0 when no file is being made. */
  int step() throws IOException {
    if (creation == null) {
      return 0;
    }
    boolean goesOn = false;
    try {
      PersistentMemory memory = creation.step();
      goesOn = memory == null;
      if (memory != null) {
        spares.addLast(new Spare(creating, memory));
        made();
      }
    } catch (IOException e) {
      // Nothing depends on the file; another one will be tried.
      failed(e);
    } finally {
      if (!goesOn) {
        creation.close();
        creation = null;
      }
    }
    return 1;
  }

  /** A file that can be made is no news while none can be given a region's name. */
  private void made() {
    if (unnamed == 0) {
      failedLast = false;
      trouble = null;
    }
  }

  /** Notes that a file was given the name of a region. */
  void named() {
    if (unnamed > 0) {
      unnamed = 0;
      made();
    }
  }

  /** Notes why a file could not be given the name of a region; it was removed, or left behind. */
  void notNamed(IOException why) throws UnwritableFileSystemException {
    unnamed++;
    failed(why);
  }

  /** Whether another file would most likely be left behind as well, so that none is made. */
  boolean leavesFilesBehind() {
    return unnamed >= UNNAMED_MAX && leftovers.count() > 0;
  }

  /**
   * Notes why a file could not be made.
   *
   * @throws UnwritableFileSystemException when the file system is read-only, so that no file can be
   *     made any more
   */
  void failed(IOException why) throws UnwritableFileSystemException {
    if (why instanceof UnwritableFileSystemException e) {
      throw e;
    }
    failures++;
    failedLast = true;
    outOfSpace = why instanceof OutOfSpaceException;
    ofFileSize = why instanceof OutOfSpaceException full && full.isOfFileSize();
    failure = FileErrors.inWords(why);
    trouble = failure;
  }

  /** Removes the oldest spare file, whose memory the caller then owns; null when there is none. */
  PersistentMemory remove() {
    Spare spare = spares.pollFirst();
    if (spare == null) {
      return null;
    }
    leftovers.remove(spare.name);
    return spare.memory;
  }

  /** Gives up making a file, and removes its name if it has one. */
  void giveUp() {
    if (creation != null) {
      creation.close();
      creation = null;
      leftovers.remove(creating);
    }
  }

  void close() {
    if (creation != null) {
      creation.close();
      creation = null;
    }
    spares.forEach(spare -> spare.memory.close());
    spares.clear();
  }
}
