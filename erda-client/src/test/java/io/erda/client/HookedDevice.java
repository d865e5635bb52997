package io.erda.client;

import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Device;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import io.erda.rdma.testing.ForwardingDevice;
import io.erda.rdma.testing.ForwardingQueuePair;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;

/** A device whose posts a test can watch, refuse, or let fail. */
public final class HookedDevice extends ForwardingDevice {
  /** Called before each post, and decides its fate. */
  public interface Hook {
    /**
     * @return {@link #GO}, {@link #REFUSE}, or a status of {@link Status} that it completes with
     */
    int before(int opcode, long remoteKey, long remoteOffset, int length);
  }

  public static final int GO = -1;
  static final int REFUSE = -2;

  public Hook hook = (opcode, key, offset, length) -> GO;

  /** Is called before each poll. */
  Runnable onPoll = () -> {};

  boolean outlives;

  /** Whether a READ takes a round trip, as over a network. */
  boolean distant;

  public HookedQueuePair last;

  HookedDevice(Device device) {
    super(device);
  }

  @Override
  public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
    return last = new HookedQueuePair(super.connect(address, privateData, timeout));
  }

  @Override
  public boolean readsOutlivePeer() {
    return outlives || super.readsOutlivePeer();
  }

  @Override
  public boolean readsNow() {
    return !distant && super.readsNow();
  }

  /** Reports made-up completions before real ones. */
  public final class HookedQueuePair extends ForwardingQueuePair {
    private record Made(long wrId, int opcode, int status) {}

    private final ArrayDeque<Made> made = new ArrayDeque<>();
    public boolean closed;

    /** Whether the next close ends with an error and closes nothing. */
    public boolean failsToClose;

    HookedQueuePair(QueuePair queuePair) {
      super(queuePair);
    }

    void complete(long wrId, int opcode, int status) {
      made.add(new Made(wrId, opcode, status));
    }

    @Override
    public boolean post(Work work) {
      if (work.opcode != Opcode.READ && work.opcode != Opcode.WRITE && work.opcode != Opcode.SEND) {
        return super.post(work);
      }
      int decision = hook.before(work.opcode, work.remoteKey, work.remoteOffset, work.length);
      if (decision >= 0) {
        complete(work.wrId, work.opcode, decision);
      }
      return decision == GO ? super.post(work) : decision != REFUSE;
    }

    @Override
    public int poll(CompletionHandler handler, int limit) {
      onPoll.run();
      int done = 0;
      for (Made each = made.poll(); each != null; each = made.poll()) {
        handler.onCompletion(each.wrId, each.opcode, each.status, 0, 0);
        done++;
      }
      return done + super.poll(handler, limit);
    }

    @Override
    public boolean arm() {
      return made.isEmpty() && super.arm();
    }

    @Override
    public void close() {
      if (failsToClose) {
        failsToClose = false;
        throw new StackOverflowError("made up");
      }
      closed = true;
      super.close();
    }
  }
}
