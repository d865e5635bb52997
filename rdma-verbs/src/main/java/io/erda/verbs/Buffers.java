package io.erda.verbs;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * The message buffers of connections, one for each. Registering memory takes long, so a buffer that
 * a connection gives back is kept for a later connection.
 */
final class Buffers {
  private static final int KEPT = 64;
  private static final int PAGE_BYTES = 4096;

  private final VerbsDevice device;
  private final ArrayDeque<VerbsRegion> spare = new ArrayDeque<>();
  private final Map<VerbsRegion, Arena> arenas = new HashMap<>();

  Buffers(VerbsDevice device) {
    this.device = device;
  }

  /**
   * Takes a buffer.
   *
   * @throws IOException when memory can't be registered; the message has the remedy
   */
  VerbsRegion take() throws IOException {
    if (!spare.isEmpty()) {
      return spare.pop();
    }
    Arena arena = Arena.ofShared();
    try {
      VerbsRegion buffer =
          device.registerLocal(arena.allocate(MessageQueue.BUFFER_BYTES, PAGE_BYTES));
      arenas.put(buffer, arena);
      return buffer;
    } catch (IOException | RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /**
   * Gives a buffer back. REQUIRES: its queue pair is destroyed, so that hardware can't reach it.
   */
  void give(VerbsRegion buffer) throws IOException {
    assert !spare.contains(buffer) : "two connections would have one buffer";
    if (spare.size() < KEPT) {
      spare.push(buffer);
    } else {
      device.regions().end(buffer);
      arenas.remove(buffer).close();
    }
  }

  /** Frees the memory of all buffers that the device has deregistered. */
  void close() {
    spare.clear();
    arenas.forEach((buffer, arena) -> {
      if (!device.regions().isRegistered(buffer)) {
        arena.close();
      }
    });
    arenas.clear();
  }
}
