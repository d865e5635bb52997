package io.erda.server;

import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OpenDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.files.UnwrittenMark;
import java.io.IOException;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * The directory of a store, with the inode and the length of each of its files. Every file is
 * mapped, so the store itself does not notice when a name is removed or given to another file, nor
 * when a file is shortened behind what the store uses next, or lengthened, or when its device does
 * not take a page; but the next opening does not find later changes, or refuses the store.
 *
 * <p>Only the store's thread uses the directory. One other thread may call {@link #lost} and {@link
 * #unwritten}.
 */
final class NamedFiles extends ForwardingDirectory {
  private final OpenDirectory place;

  /**
   * This map has for each name the file that the store opened by it, and how long the file was
   * then. Only {@link #lengthen} changes the length of a file of a store. The store adds a name to
   * the map after it has given the name to the file, and removes it before it takes the name away.
   * So a name in the map that leads to no file, or to another one, was changed by somebody else.
   */
  private final Map<String, OpenDirectory.Named> known = new ConcurrentHashMap<>();

  private final Round names = new Round(this::lost);
  private final Round writes;

  /**
   * @param directory the directory with the store's files; owned
   * @param place the same directory; borrowed
   */
  NamedFiles(MemoryDirectory directory, OpenDirectory place) {
    super(directory);
    this.place = place;
    boolean asked = !place.writesAtClose();
    this.writes = new Round((name, _) -> asked ? unwritten(name) : null);
  }

  /**
   * Checks some names, the next ones at each call. Returns in words what has happened to a name
   * that is lost; null when all checked names are right. Costs a system call for each file. One
   * thread.
   *
   * @param most how many names are checked
   */
  String lost(int most) {
    return names.find(most);
  }

  /** As {@link #lost(int)}, for all files. */
  String lost() {
    return names.find();
  }

  /**
   * Checks for some files, the next ones at each call, whether their device took what was stored in
   * them. Returns in words what it did not take; null when all checked files are right. One thread.
   *
   * @param most how many files are checked
   */
  String unwritten(int most) {
    return writes.find(most);
  }

  /** As {@link #unwritten(int)}, for all files. */
  String unwritten() {
    return writes.find();
  }

  /** Goes over the known files, some at each call. */
  private final class Round {
    /** Returns in words what is wrong with the file that has a name; null when nothing is. */
    private final BiFunction<String, OpenDirectory.Named, String> check;

    private Iterator<Map.Entry<String, OpenDirectory.Named>> rest = Collections.emptyIterator();

    Round(BiFunction<String, OpenDirectory.Named, String> check) {
      this.check = check;
    }

    String find(int most) {
      for (int i = 0; i < most; i++) {
        if (!rest.hasNext()) {
          if (i > 0) {
            return null;
          }
          rest = known.entrySet().iterator();
          if (!rest.hasNext()) {
            return null;
          }
        }
        Map.Entry<String, OpenDirectory.Named> named = rest.next();
        String wrong = check.apply(named.getKey(), named.getValue());
        if (wrong != null) {
          return wrong;
        }
      }
      return null;
    }

    String find() {
      rest = Collections.emptyIterator();
      return find(Integer.MAX_VALUE);
    }
  }

  /** The kernel tells of it only once, so the mark is left at once. */
  private String unwritten(String name) {
    String error = place.writeError(name);
    if (error != null) {
      UnwrittenMark.leave(place);
    }
    return error;
  }

  private String lost(String name, OpenDirectory.Named opened) {
    OpenDirectory.Named now;
    try {
      now = place.named(name);
    } catch (IOException e) {
      // It can't be determined whether the name is right; a later call checks it again.
      return null;
    }
    boolean same = now != null && now.inode() == opened.inode();
    if (same && now.bytes() == opened.bytes() || !opened.equals(known.get(name))) {
      return null;
    }
    if (same && now.bytes() > opened.bytes()) {
      return "%1$s was lengthened while it was in use: it has %2$d bytes, not %3$d; no byte behind that is the store's, and 'truncate -s %3$d' makes it what it was"
          .formatted(name, now.bytes(), opened.bytes());
    }
    if (same) {
      return "%s was shortened while it was in use: it has %d of %d bytes"
          .formatted(name, now.bytes(), opened.bytes());
    }
    return name + (now == null ? " is gone" : " is not the file that was opened");
  }

  private void know(String name) {
    try {
      OpenDirectory.Named named = place.named(name);
      if (named != null) {
        known.put(name, named);
      }
    } catch (IOException e) {
      // The store uses the file in any case; only its name is not checked.
    }
  }

  @Override
  protected PersistentMemory wrap(String name, PersistentMemory memory) {
    know(name);
    return memory;
  }

  @Override
  public void lengthen(String name, long length) throws IOException {
    known.remove(name);
    super.lengthen(name, length);
    know(name);
  }

  @Override
  public void delete(String name) throws IOException {
    known.remove(name);
    super.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    OpenDirectory.Named named = known.remove(from);
    known.remove(to);
    super.rename(from, to);
    if (named != null) {
      known.put(to, named);
    }
  }
}
