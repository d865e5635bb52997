package io.erda.pmem;

import java.lang.foreign.Arena;

/**
 * Ends arenas that files are mapped in. The JDK throws the error of munmap(2), an undeclared {@code
 * IOException}, when the arena has ended already: nothing can be accessed through it any more, and
 * all that is left is a range of addresses. The kernel refuses it when a process has too many
 * mappings (ENOMEM), and nobody can do anything about that, so the range is left behind.
 */
public final class MappedArena {
  private MappedArena() {}

  /**
   * Ends an arena, and every mapping that the kernel takes back.
   *
   * @throws IllegalStateException when the arena has ended before, or is in use: this call did not
   *     end it
   */
  public static void close(Arena arena) {
    if (!arena.scope().isAlive()) {
      throw new IllegalStateException("the arena has ended already");
    }
    try {
      arena.close();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      if (arena.scope().isAlive()) {
        throw new IllegalStateException(e);
      }
    }
  }
}
