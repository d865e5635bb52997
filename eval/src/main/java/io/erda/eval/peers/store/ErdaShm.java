package io.erda.eval.peers.store;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.client.OperationHandler;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Poller;
import java.lang.foreign.MemorySegment;

/** Erda over shared memory, its server in another process. */
public final class ErdaShm extends ErdaPeer {
  private static final long SLEEP_NS = 100_000_000;

  private final PeerPlace place;

  /** A client with several operations in flight; null when the store is not pipelined. */
  private final ErdaAsyncClient pipeline;

  private final Poller poller =
      new Poller(System::nanoTime, Poller.DEFAULT_SPIN_NS, Poller.DEFAULT_BUDGET_NS);

  private ErdaException failure;

  public ErdaShm(PeerPlace place) {
    super(ErdaClient.connect(place.location()), place.valueBytes());
    this.place = place;
    this.pipeline = place.pipelined() ? pipeline(place.location()) : null;
  }

  private ErdaAsyncClient pipeline(String uri) {
    ErdaAsyncClient client =
        ErdaAsyncClient.connect(
            ErdaUri.parse(uri),
            ClientOptions.DEFAULT.withPipelineDepth(PIPELINE_DEPTH),
            new Failures());
    while (!client.isConnected()) {
      client.doWork();
      Thread.onSpinWait();
    }
    return client;
  }

  @Override
  public PeerStore another() {
    return new ErdaShm(place);
  }

  @Override
  public void put() {
    if (pipeline == null) {
      super.put();
      return;
    }
    while (!pipeline.put(0, key, value)) {
      work();
    }
  }

  @Override
  public void awaitPuts() {
    while (pipeline != null && pipeline.inFlight() > 0) {
      work();
    }
  }

  /** Polls, then sleeps, as a blocking client does: spinning alone would take the server's core. */
  private void work() {
    if (!poller.mayPoll(pipeline.doWork())) {
      pipeline.await(SLEEP_NS);
      poller.reset();
    }
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public void close() {
    if (pipeline != null) {
      pipeline.close();
    }
    super.close();
  }

  /** Keeps the last failure, which the next call throws. */
  private final class Failures implements OperationHandler {
    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {}

    @Override
    public void onPut(long token) {}

    @Override
    public void onDelete(long token, boolean existed) {}

    @Override
    public void onError(long token, ErdaException error) {
      failure = error;
    }
  }
}
