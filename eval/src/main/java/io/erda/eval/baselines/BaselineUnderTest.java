package io.erda.eval.baselines;

import io.erda.pmem.MemoryDirectory;
import io.erda.rdma.Device;
import io.erda.simulation.system.StoreUnderTest;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/** A baseline under Erda's simulation, with its usual server and client. */
public final class BaselineUnderTest implements StoreUnderTest {
  private static final long TIMEOUT_NS = 200_000_000L;

  private final BaselineKind kind;
  private final BaselineGeometry geometry;
  private final long lagBytes;
  private final boolean flushesPersist;

  /**
   * Makes a system of servers and clients.
   *
   * @param lagBytes bytes of the log that may stay unapplied; 0: everything is applied when idle
   * @param flushesPersist whether a FLUSH of the device reaches the persistence domain
   */
  public BaselineUnderTest(
      BaselineKind kind, BaselineGeometry geometry, long lagBytes, boolean flushesPersist) {
    this.kind = kind;
    this.geometry = geometry;
    this.lagBytes = lagBytes;
    this.flushesPersist = flushesPersist;
  }

  @Override
  public Server start(
      MemoryDirectory directory,
      Device device,
      String address,
      List<Device> abandoned,
      LongSupplier nanoTime,
      RandomGenerator random)
      throws IOException {
    if (!directory.lock()) {
      throw new IllegalStateException("the lock of a dead process is still held");
    }
    BaselineServer server =
        BaselineServer.open(kind, directory, geometry, lagBytes, nanoTime, random);
    server.listen(device, device.listen(address), flushesPersist);
    return new Server() {
      @Override
      public int doWork() {
        return server.doWork();
      }

      @Override
      public String wrongWhenIdle() {
        return server.awaited() == 0 ? null : server.awaited() + " places are awaited of nobody";
      }

      @Override
      public void stop() {
        server.close();
        directory.close();
      }

      @Override
      public void release() {
        server.abandon();
      }
    };
  }

  @Override
  public void inspect(
      MemoryDirectory directory, RandomGenerator random, BiConsumer<byte[], String> findings) {
    // There is no inspection of a baseline.
  }

  @Override
  public boolean iterates() {
    return false;
  }

  @Override
  public Client connect(Device device, String address, LongSupplier nanoTime, ClientEvents events) {
    BaselineClient client =
        new BaselineClient(kind, device, address, TIMEOUT_NS, nanoTime, new Events(events));
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

      @Override
      public void close() {
        client.close();
      }

      @Override
      public void release() {
        client.close();
      }
    };
  }

  private record Events(ClientEvents events) implements BaselineClient.Events {
    @Override
    public void got(long token, MemorySegment memory, long offset, int length) {
      events.got(token, length < 0 ? null : memory.asSlice(offset, length));
    }

    @Override
    public void put(long token) {
      events.done(token);
    }

    @Override
    public void deleted(long token, boolean existed) {
      events.deleted(token, existed);
    }

    @Override
    public void failed(long token, String why) {
      events.failed(token, new IllegalStateException(why));
    }

    @Override
    public void unknown(long token, String why) {
      events.unknown(token, false, new IllegalStateException(why));
    }
  }
}
