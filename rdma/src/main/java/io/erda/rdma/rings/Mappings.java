package io.erda.rdma.rings;

import io.erda.pmem.MappedArena;
import io.erda.pmem.libc.Errno;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The mappings of a peer's files that one connection has made. Closing a shared arena stops every
 * thread of the JVM for a moment, so many mappings share an arena, and the first mappings share the
 * arena of the queue file. A mapping that ends before the others of its arena is replaced by zeros.
 * The kernel can free its file then, and its addresses are given back together with those of the
 * others.
 *
 * <p>Owns all arenas but the first.
 */
public final class Mappings implements AutoCloseable {
  /** Mappings that share an arena. */
  private static final int GROUP = 64;

  /** An arena, and the number of mappings in it. */
  static final class Group {
    private final Arena arena;
    private int made;
    private int live;

    private Group(Arena arena) {
      this.arena = arena;
    }
  }

  private final Group first;
  private final List<Group> full = new ArrayList<>();
  private Group current;

  /**
   * @param first outlives this object
   */
  public Mappings(Arena first) {
    this.first = new Group(first);
    this.current = this.first;
  }

  /** The arena for the next mapping. */
  public Arena arena() {
    if (current.made == GROUP) {
      full.add(current);
      current = new Group(Arena.ofShared());
    }
    return current.arena;
  }

  /** Counts a mapping that was made in {@link #arena}. Returns its group. */
  public Group made() {
    assert current.made < GROUP : "arena() was not asked for";
    current.made++;
    current.live++;
    return current;
  }

  /** Ends a mapping. REQUIRES: nobody uses it any more. */
  public void release(Group group, MemorySegment mapped) {
    assert group.live > 0 : "a mapping ends twice";
    group.live--;
    if (group.live == 0 && group != first && full.remove(group)) {
      MappedArena.close(group.arena);
      return;
    }
    try {
      mapZerosOver(mapped);
    } catch (IOException e) {
      // The mapping stays as it is until the other mappings of its group have ended.
    }
  }

  /**
   * Maps private zeros in place of a segment of whole pages. The segment keeps its address and
   * length.
   */
  public static void mapZerosOver(MemorySegment mapped) throws IOException {
    assert (mapped.address() & 4095) == 0 : mapped + " begins within a page";
    int flags = Libc.MAP_PRIVATE | Libc.MAP_FIXED | Libc.MAP_ANONYMOUS;
    long at = Libc.map(mapped.address(), mapped.byteSize(), Libc.PROT_READ_WRITE, flags, -1);
    if (at != mapped.address()) {
      throw new IOException(Errno.inWords("mmap", (int) -at));
    }
  }

  @Override
  public void close() {
    if (current != first) {
      full.add(current);
    }
    for (Group group : full) {
      if (group != first && group.arena.scope().isAlive()) {
        MappedArena.close(group.arena);
      }
    }
    full.clear();
  }
}
