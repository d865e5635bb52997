package io.erda.server;

import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OpenDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The directory of a store, with the inode of each of its files. Every file is mapped, so the store
 * itself does not notice when a name is removed or given to another file; but the next opening does
 * not find later changes.
 *
 * <p>Only the store's thread uses the directory. One other thread may call {@link #lost}.
 */
final class NamedFiles extends ForwardingDirectory {
  private final OpenDirectory place;

  /**
   * The inode of each file. The store adds a name to the map after it has given the name to the
   * file, and removes it before it takes the name away. So a name in the map that leads to no file,
   * or to another one, was changed by somebody else.
   */
  private final Map<String, Long> inodes = new ConcurrentHashMap<>();

  private Iterator<Map.Entry<String, Long>> rest = Collections.emptyIterator();

  /**
   * @param directory the directory with the store's files; owned
   * @param place the same directory; borrowed
   */
  NamedFiles(MemoryDirectory directory, OpenDirectory place) {
    super(directory);
    this.place = place;
  }

  /**
   * Checks some names, the next ones at each call. Returns in words what has happened to a name
   * that is lost; null when all checked names are right. Costs a system call for each file. One
   * thread.
   *
   * @param most how many names are checked
   */
  String lost(int most) {
    for (int i = 0; i < most; i++) {
      if (!rest.hasNext()) {
        if (i > 0) {
          return null;
        }
        rest = inodes.entrySet().iterator();
        if (!rest.hasNext()) {
          return null;
        }
      }
      Map.Entry<String, Long> named = rest.next();
      String lost = lost(named.getKey(), named.getValue());
      if (lost != null) {
        return lost;
      }
    }
    return null;
  }

  /** As {@link #lost(int)}, for all files. */
  String lost() {
    rest = Collections.emptyIterator();
    return lost(Integer.MAX_VALUE);
  }

  private String lost(String name, Long inode) {
    long now;
    try {
      now = place.inode(name);
    } catch (IOException e) {
      // It can't be determined whether the name is right; a later call checks it again.
      return null;
    }
    boolean there = now == inode || !inode.equals(inodes.get(name));
    if (there) {
      return null;
    }
    return now == 0 ? name + " is gone" : name + " is not the file that was opened";
  }

  private void know(String name) {
    try {
      long inode = place.inode(name);
      if (inode != 0) {
        inodes.put(name, inode);
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
    inodes.remove(name);
    super.lengthen(name, length);
    know(name);
  }

  @Override
  public void delete(String name) throws IOException {
    inodes.remove(name);
    super.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Long inode = inodes.remove(from);
    inodes.remove(to);
    super.rename(from, to);
    if (inode != null) {
      inodes.put(to, inode);
    }
  }
}
