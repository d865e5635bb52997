package io.erda.eval.baselines;

import io.erda.rdma.Device;
import io.erda.rdma.Poller;
import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Blocking calls of either baseline: a loop around {@link BaselineClient} that polls as Erda's
 * blocking client does, then sleeps. One thread. Owns the client, borrows the device.
 */
public final class BaselineCalls implements AutoCloseable {
  /** A call failed: it had no effect, or its outcome is unknown. */
  public static final class CallFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Whether the call may have taken effect. */
    public final boolean outcomeUnknown;

    CallFailed(String why, boolean outcomeUnknown) {
      super(why);
      this.outcomeUnknown = outcomeUnknown;
    }
  }

  private static final long AWAIT_NS = 1_000_000;

  private final Device device;
  private final BaselineClient client;
  private final Poller poller;
  private final IntSupplier serverSteps;
  private boolean ended;
  private MemorySegment into;
  private long length;
  private boolean existed;
  private CallFailed failure;

  /**
   * Calls of a server that another thread steps.
   *
   * @param timeoutNs the time-out of a call
   * @param pollingNs how long to poll before a sleep
   */
  public BaselineCalls(
      BaselineKind kind,
      Device device,
      String address,
      long timeoutNs,
      long pollingNs,
      LongSupplier nanoTime) {
    this(kind, device, address, timeoutNs, pollingNs, nanoTime, () -> 0);
  }

  /**
   * Calls of a server that the caller may have to step.
   *
   * @param serverSteps takes the server's next step if the caller must, and returns 0 when there
   *     was none
   */
  BaselineCalls(
      BaselineKind kind,
      Device device,
      String address,
      long timeoutNs,
      long pollingNs,
      LongSupplier nanoTime,
      IntSupplier serverSteps) {
    this.device = device;
    this.serverSteps = serverSteps;
    this.client = new BaselineClient(kind, device, address, timeoutNs, nanoTime, new Ends());
    this.poller = new Poller(nanoTime, Math.min(Poller.DEFAULT_SPIN_NS, pollingNs), pollingNs);
  }

  /**
   * Gets a value.
   *
   * @return its length, or -1 when the key has none; when it is more than {@code to.byteSize()}
   *     nothing was copied
   */
  public long get(MemorySegment key, MemorySegment to) {
    into = to;
    client.get(0, key);
    await();
    return length;
  }

  public void put(MemorySegment key, MemorySegment value) {
    client.put(0, key, value);
    await();
  }

  /** Deletes a key. Returns whether it had a value. */
  public boolean delete(MemorySegment key) {
    client.delete(0, key);
    await();
    return existed;
  }

  private void await() {
    ended = false;
    failure = null;
    poller.reset();
    while (!ended) {
      int work = client.doWork();
      if (ended || poller.mayPoll(work + serverSteps.getAsInt())) {
        continue;
      }
      if (client.queuePair() == null || client.queuePair().arm() && client.doWork() == 0) {
        device.await(AWAIT_NS);
        poller.woken();
      } else {
        poller.reset();
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public void close() {
    client.close();
  }

  private final class Ends implements BaselineClient.Events {
    @Override
    public void got(long token, MemorySegment memory, long offset, int bytes) {
      ended = true;
      length = bytes;
      if (bytes > 0 && bytes <= into.byteSize()) {
        MemorySegment.copy(memory, offset, into, 0, bytes);
      }
    }

    @Override
    public void put(long token) {
      ended = true;
    }

    @Override
    public void deleted(long token, boolean was) {
      ended = true;
      existed = was;
    }

    @Override
    public void failed(long token, String why) {
      ended = true;
      failure = new CallFailed(why, false);
    }

    @Override
    public void unknown(long token, String why) {
      ended = true;
      failure = new CallFailed(why, true);
    }
  }
}
