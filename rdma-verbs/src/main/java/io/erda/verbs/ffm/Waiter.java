package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;
import static io.erda.verbs.ffm.Foreign.MEMORY;
import static io.erda.verbs.ffm.Foreign.SHORT;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Sleeps until one of some file descriptors can be read, or another thread calls {@link #wakeup}.
 * One thread waits.
 */
public final class Waiter implements AutoCloseable {
  private static final long NS_PER_MS = 1_000_000;
  private static final short POLLIN = 1;
  private static final int POLLFD_BYTES = 8;
  private static final int POLLFD_EVENTS = 4;
  private static final int POLLFD_REVENTS = 6;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final int count;
  private final int wakeFd;
  private final long oneAt;
  private final long takenAt;
  private boolean closed;

  /** Makes a waiter for these descriptors, which the caller keeps owning. */
  public Waiter(int... fds) throws IOException {
    count = fds.length + 1;
    memory = arena.allocate((long) count * POLLFD_BYTES + 16, 8);
    takenAt = memory.address() + (long) count * POLLFD_BYTES;
    oneAt = takenAt + 8;
    MEMORY.set(LONG, oneAt, 1);
    wakeFd = check("eventfd", Libc.eventfd());
    for (int i = 0; i < count; i++) {
      long at = (long) i * POLLFD_BYTES;
      memory.set(INT, at, i < fds.length ? fds[i] : wakeFd);
      memory.set(SHORT, at + POLLFD_EVENTS, POLLIN);
    }
  }

  /**
   * Returns whether one of them can be read, or a wake-up came. A time is rounded up to
   * milliseconds; a signal ends it too.
   */
  public boolean await(long timeoutNs) throws IOException {
    long ms = timeoutNs <= 0 ? 0 : (timeoutNs - 1) / NS_PER_MS + 1;
    int ready =
        check("poll", Libc.poll(memory.address(), count, (int) Math.min(ms, Integer.MAX_VALUE)));
    if (ready > 0 && isReady(count - 1)) {
      Libc.read(wakeFd, takenAt, Long.BYTES);
    }
    return ready > 0;
  }

  /** Whether the last {@link #await} found this descriptor readable, or in error. */
  public boolean isReady(int index) {
    return memory.get(SHORT, (long) index * POLLFD_BYTES + POLLFD_REVENTS) != 0;
  }

  /** Ends the present or the next {@link #await}. */
  public synchronized void wakeup() {
    if (!closed) {
      // The result is ignored, because a full counter wakes the thread, too.
      Libc.write(wakeFd, oneAt, Long.BYTES);
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
    MEMORY.set(SHORT, pollFd + POLLFD_EVENTS, POLLIN);
    return check("poll", Libc.poll(pollFd, 1, timeoutMs)) > 0;
  }

  private static int check(String call, int result) throws VerbsException {
    if (result < 0) {
      throw Foreign.failed(call, -result);
    }
    return result;
  }
}
