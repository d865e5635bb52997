package io.erda.eval.experiments.network;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaUri;
import io.erda.client.OperationHandler;
import io.erda.eval.process.ProcessException;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Poller;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Gets of an asynchronous client with a constant number in flight: when one ends the next is
 * submitted. Copies every value, and waits as a blocking client does. One thread.
 */
final class PipelinedGets implements OperationHandler, AutoCloseable {
  private static final long SLEEP_NS = 100_000_000;

  private final ErdaAsyncClient client;
  private final int inFlight;
  private final int valueBytes;
  private final MemorySegment into;
  private final Poller poller =
      new Poller(System::nanoTime, Poller.DEFAULT_SPIN_NS, Poller.DEFAULT_BUDGET_NS);

  private MemorySegment[] keys;
  private int begun;
  private int ended;

  PipelinedGets(String uri, int inFlight, int valueBytes) {
    this.client = ErdaAsyncClient.connect(ErdaUri.parse(uri), ClientOptions.DEFAULT, this);
    this.inFlight = inFlight;
    this.valueBytes = valueBytes;
    this.into = Arena.ofAuto().allocate(valueBytes, 8);
  }

  /** Gets the first {@code count} keys. Returns nanoseconds. */
  long run(MemorySegment[] some, int count) {
    keys = some;
    begun = 0;
    ended = 0;
    poller.reset();
    long startNs = System.nanoTime();
    while (ended < count) {
      while (begun < count && begun - ended < inFlight && client.get(begun, keys[begun])) {
        begun++;
      }
      if (!poller.mayPoll(client.doWork())) {
        client.await(SLEEP_NS);
        poller.reset();
      }
    }
    return System.nanoTime() - startNs;
  }

  @Override
  public void onGet(long token, MemorySegment memory, long offset, long length) {
    if (length != valueBytes) {
      throw new ProcessException("a get found " + length + " bytes, expected " + valueBytes);
    }
    MemorySegment.copy(memory, offset, into, 0, length);
    ended++;
  }

  @Override
  public void onPut(long token) {
    throw new IllegalStateException("nobody puts");
  }

  @Override
  public void onDelete(long token, boolean existed) {
    throw new IllegalStateException("nobody deletes");
  }

  @Override
  public void onError(long token, ErdaException error) {
    throw error;
  }

  @Override
  public void close() {
    client.close();
  }
}
