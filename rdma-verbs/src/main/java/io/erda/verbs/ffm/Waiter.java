package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;
import static io.erda.verbs.ffm.Foreign.MEMORY;
import static io.erda.verbs.ffm.Foreign.SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Sleeps until one of some file descriptors can be read, or another thread says so. One thread
 * waits; any thread may {@link #wakeup}.
 */
public final class Waiter implements AutoCloseable {
  private static final long NS_PER_MS = 1_000_000;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final int count;
  private final int wakeFd;
  private final long oneAt;
  private final long takenAt;
  private boolean closed;

  /** Makes a waiter for these descriptors, which stay the caller's. */
  public Waiter(int... fds) throws IOException {
    count = fds.length + 1;
    memory = arena.allocate((long) count * Libc.POLLFD_BYTES + 16, 8);
    takenAt = memory.address() + (long) count * Libc.POLLFD_BYTES;
    oneAt = takenAt + 8;
    MEMORY.set(LONG, oneAt, 1);
    wakeFd = Libc.eventfd();
    for (int i = 0; i < count; i++) {
      long at = (long) i * Libc.POLLFD_BYTES;
      memory.set(INT, at, i < fds.length ? fds[i] : wakeFd);
      memory.set(SHORT, at + Libc.POLLFD_EVENTS, Libc.POLLIN);
    }
  }

  /**
   * Returns whether one of them can be read, or a wake-up came. A time is rounded up to
   * milliseconds; a signal ends it too.
   */
  public boolean await(long timeoutNs) throws IOException {
    long ms = timeoutNs <= 0 ? 0 : (timeoutNs - 1) / NS_PER_MS + 1;
    int ready = Libc.poll(memory.address(), count, (int) Math.min(ms, Integer.MAX_VALUE));
    if (ready > 0 && isReady(count - 1)) {
      Libc.take(wakeFd, takenAt);
    }
    return ready > 0;
  }

  /** Whether the last {@link #await} found this descriptor readable, or in error. */
  public boolean isReady(int index) {
    return memory.get(SHORT, (long) index * Libc.POLLFD_BYTES + Libc.POLLFD_REVENTS) != 0;
  }

  /** Ends an {@link #await}, now or the next one. */
  public synchronized void wakeup() {
    if (!closed) {
      Libc.give(wakeFd, oneAt);
    }
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      Libc.close(wakeFd);
      arena.close();
    }
  }

  static boolean isReadable(int fd, int timeoutMs) throws IOException {
    long pollFd = Pointers.Scratch.zeroed();
    MEMORY.set(INT, pollFd, fd);
    MEMORY.set(SHORT, pollFd + Libc.POLLFD_EVENTS, Libc.POLLIN);
    return Libc.poll(pollFd, 1, timeoutMs) > 0;
  }
}
