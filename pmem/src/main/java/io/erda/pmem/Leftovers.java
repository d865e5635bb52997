package io.erda.pmem;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Removes files that are no longer needed. A file that can't be removed is left behind. It costs
 * only its space, so the failure is reported, the removal is tried again later, and the caller goes
 * on.
 *
 * <p>REQUIRES: a file that is left behind harms neither this process nor the next one that opens
 * the directory. One thread. Borrows the directory.
 */
public final class Leftovers {
  private final MemoryDirectory directory;
  private final MemoryDirectory watched;

  /** Names of the files that were left behind, and why each was; the oldest first. */
  private final Map<String, String> left = new LinkedHashMap<>();

  private final List<String> leftUntold = new ArrayList<>();
  private final List<String> undoneUntold = new ArrayList<>();
  private Consumer<String> onLeft = leftUntold::add;
  private Consumer<String> onUndone = undoneUntold::add;
  private long failures;

  public Leftovers(MemoryDirectory directory) {
    this.directory = directory;
    this.watched = new Watched(directory);
  }

  /**
   * Returns the directory in which new files must be made. When a new file gets the name of a
   * leftover, the name is no longer a leftover's, and {@link #again} does not remove the file.
   * REQUIRES: all new files are made through the returned directory. It owns the given directory as
   * any {@link ForwardingDirectory} does.
   */
  public MemoryDirectory directory() {
    return watched;
  }

  /**
   * Sets who gets a line for each file that is left behind, and for each failure of other work.
   * They get earlier lines at once.
   */
  public void tell(Consumer<String> left, Consumer<String> undone) {
    onLeft = left;
    onUndone = undone;
    leftUntold.forEach(left);
    undoneUntold.forEach(undone);
    leftUntold.clear();
    undoneUntold.clear();
  }

  /** Removes a file, if it exists. Returns false when it is left behind. */
  public boolean remove(String name) {
    try {
      directory.delete(name);
      left.remove(name);
      return true;
    } catch (IOException e) {
      failures++;
      String why = FileErrors.inWords(e);
      if (!why.equals(left.put(name, why))) {
        onLeft.accept(why + ": the file is needed no more, and is left behind");
      }
      return false;
    }
  }

  /** Reports a failure of other work on which nothing depends. */
  public void undone(String what) {
    onUndone.accept(what);
  }

  /** Tries again to remove the files that were left behind. */
  public void again() {
    if (!left.isEmpty()) {
      List.copyOf(left.keySet()).forEach(this::remove);
    }
  }

  /** Returns the number of files that are left behind now. */
  public int count() {
    return left.size();
  }

  /** Returns how often a file could not be removed. */
  public long failures() {
    return failures;
  }

  /** Notes the names that new files get. */
  private final class Watched extends ForwardingDirectory {
    Watched(MemoryDirectory directory) {
      super(directory);
    }

    @Override
    public PersistentMemory create(String name, long length) throws IOException {
      left.remove(name);
      return super.create(name, length);
    }

    @Override
    public Creation creating(String name, long length) throws IOException {
      left.remove(name);
      return super.creating(name, length);
    }

    @Override
    public void rename(String from, String to) throws IOException {
      left.remove(to);
      super.rename(from, to);
    }
  }
}
