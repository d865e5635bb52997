package io.erda.simulation.system;

import io.erda.cleaner.Entries;
import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.OperationHandler;
import io.erda.pmem.MemoryDirectory;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Device;
import io.erda.server.engine.ServerCore;
import io.erda.server.engine.ServerLimits;
import io.erda.server.engine.StoreEngine;
import io.erda.server.engine.StoreInspection;
import io.erda.server.engine.StoreOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** Erda's own server and client cores, as they run in production. */
public final class ErdaUnderTest implements StoreUnderTest {
  /** Steps of the server from one request to clean to the next, about. */
  private static final int ASKS_SHARE = 1024;

  private final StoreOptions options;
  private final ServerLimits limits;
  private final ClientOptions clientOptions;

  private final UnaryOperator<Entries> overEntries;

  public ErdaUnderTest(StoreOptions options, ServerLimits limits, ClientOptions clientOptions) {
    this(options, limits, clientOptions, UnaryOperator.identity());
  }

  /**
   * As the other one.
   *
   * @param overEntries wraps what the cleaner sees of the table
   */
  public ErdaUnderTest(
      StoreOptions options,
      ServerLimits limits,
      ClientOptions clientOptions,
      UnaryOperator<Entries> overEntries) {
    this.options = options;
    this.limits = limits;
    this.clientOptions = clientOptions;
    this.overEntries = overEntries;
  }

  @Override
  public Server start(
      MemoryDirectory directory,
      Device device,
      String address,
      LongSupplier nanoTime,
      RandomGenerator random)
      throws IOException {
    if (!directory.lock()) {
      throw new IllegalStateException("the lock of a dead process is still held");
    }
    StoreEngine engine = StoreEngine.open(directory, options, random);
    new StoreInspection(engine, (key, what) -> requireSound(what)).run();
    ServerCore core = new ServerCore(engine, limits, nanoTime, overEntries);
    core.listen(device, device.listen(address));
    return new Server() {
      @Override
      public int doWork() {
        if (random.nextInt(ASKS_SHARE) == 0) {
          core.cleaner().ask(-1);
        }
        return core.doWork();
      }

      @Override
      public long cleanings() {
        return core.cleaner().cleanings();
      }
    };
  }

  private static void requireSound(String finding) {
    throw new IllegalStateException("recovery left: " + finding);
  }

  @Override
  public Client connect(Device device, String address, LongSupplier nanoTime, ClientEvents events) {
    ErdaAsyncClient client =
        ErdaAsyncClient.over(device, address, clientOptions, nanoTime, new Events(events));
    return new Client() {
      @Override
      public int doWork() {
        return client.doWork();
      }

      @Override
      public boolean get(long token, MemorySegment key) {
        return client.get(token, key);
      }

      @Override
      public boolean put(long token, MemorySegment key, MemorySegment value) {
        return client.put(token, key, value);
      }

      @Override
      public boolean delete(long token, MemorySegment key) {
        return client.delete(token, key);
      }
    };
  }

  private record Events(ClientEvents events) implements OperationHandler {
    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {
      events.got(token, length < 0 ? null : memory.asSlice(offset, length));
    }

    @Override
    public void onPut(long token) {
      events.done(token);
    }

    @Override
    public void onDelete(long token, boolean existed) {
      events.deleted(token, existed);
    }

    @Override
    public void onError(long token, ErdaException error) {
      switch (error) {
        case ErdaException.OutcomeUnknown e -> events.unknown(token, e);
        case ErdaException.Unavailable e -> events.failed(token, e);
        case ErdaException.Refused e -> events.failed(token, e);
        case ErdaException.Full e -> events.failed(token, e);
        case ErdaException.BadSize e -> events.broken(token, e);
        case ErdaException.Damaged e -> events.broken(token, e);
        case ErdaException.Unusable e -> events.broken(token, e);
        case ErdaException.BadArgument e -> events.broken(token, e);
      }
    }
  }
}
