package io.erda.pmem;

import java.lang.foreign.Arena;

/**
 * Ends arenas that files are mapped in. When munmap(2) fails, the JDK throws an undeclared {@code
 * IOException}, but only after the arena has ended: nothing can be accessed through the arena any
 * more, and only its range of addresses is left. The kernel refuses to unmap when a process has too
 * many mappings (ENOMEM). Nobody can do anything about that, so the range is left behind.
 */
public final class MappedArena {
  private MappedArena() {}

  /**
   * Ends an arena, and its mappings as far as the kernel unmaps them.
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
