package io.erda.eval.paper;

import io.erda.cleaner.CleanerOptions;
import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.OperationHandler;
import io.erda.eval.baselines.BaselineClient;
import io.erda.eval.baselines.BaselineGeometry;
import io.erda.eval.baselines.BaselineKind;
import io.erda.eval.baselines.BaselineServer;
import io.erda.logstore.LogGeometry;
import io.erda.pmem.MemoryDirectory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import io.erda.rdma.Device;
import io.erda.server.engine.ServerCore;
import io.erda.server.engine.ServiceOptions;
import io.erda.server.engine.StoreGeometry;
import io.erda.server.engine.StoreOpening;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * The server and the clients of a scheme as they run anywhere, on simulated devices: whoever has
 * them steps them.
 */
interface SimulatedScheme {
  /** A server of a new store; one step of it returns 0 when there was nothing to do. */
  Server serve(
      MemoryDirectory directory,
      Device device,
      String address,
      LongSupplier nanoTime,
      RandomGenerator random)
      throws IOException;

  /** A client that starts to connect. */
  Client connect(Device device, String address, LongSupplier nanoTime, Events events);

  /** Hears what becomes of a client's operations. */
  interface Events {
    void ended();

    void failed(String why);

    default void got(long length) {
      if (length < 0) {
        failed("a key is not there");
      } else {
        ended();
      }
    }
  }

  /** A server, stepped. */
  interface Server extends AutoCloseable {
    int doWork();

    @Override
    void close();
  }

  /** A client with one operation at a time, which calls back when it ended, stepped. */
  interface Client extends AutoCloseable {
    int doWork();

    void get(MemorySegment key);

    void put(MemorySegment key, MemorySegment value);

    @Override
    void close();
  }

  /** Makes one for a store of so many bytes at most. */
  static SimulatedScheme of(Scheme scheme, int objects, int objectBytes, long bytes) {
    return switch (scheme) {
      case ERDA -> new Erda(objects, bytes);
      case REDO_LOGGING -> new Baseline(BaselineKind.REDO_LOGGING, objects, objectBytes);
      case READ_AFTER_WRITE -> new Baseline(BaselineKind.READ_AFTER_WRITE, objects, objectBytes);
    };
  }

  /** Erda with the promise to survive a power failure, and a log that is not cleaned meanwhile. */
  record Erda(int objects, long bytes) implements SimulatedScheme {
    private static final int REGION_BYTES = 8 << 20;
    private static final int HEADS = 4;

    @Override
    public Server serve(
        MemoryDirectory directory,
        Device device,
        String address,
        LongSupplier nanoTime,
        RandomGenerator random)
        throws IOException {
      requireLock(directory);
      int regions = (int) (2 * bytes / REGION_BYTES) + 8 * HEADS;
      StoreGeometry geometry =
          new StoreGeometry(
              new LogGeometry(HEADS, REGION_BYTES, REGION_BYTES / 4, regions),
              Long.highestOneBit(objects) * 4,
              PutMode.PUBLISH);
      ServiceOptions defaults = ServiceOptions.DEFAULT;
      ServiceOptions service =
          new ServiceOptions(
              defaults.connectionsMax(),
              defaults.reservationIdleNs(),
              defaults.extentBytesMax() >> 4,
              defaults.pollingNs(),
              CleanerOptions.NEVER);
      ServerCore core =
          new ServerCore(
              StoreOpening.open(directory, geometry, Promise.POWER, random),
              service,
              nanoTime,
              UnaryOperator.identity());
      core.listen(device, device.listen(address));
      return new Server() {
        @Override
        public int doWork() {
          return core.doWork();
        }

        @Override
        public void close() {
          core.abandon();
        }
      };
    }

    @Override
    public Client connect(Device device, String address, LongSupplier nanoTime, Events events) {
      ErdaAsyncClient client =
          ErdaAsyncClient.over(
              device,
              address,
              ClientOptions.DEFAULT,
              nanoTime,
              new OperationHandler() {
                @Override
                public void onGet(long token, MemorySegment memory, long offset, long length) {
                  events.got(length);
                }

                @Override
                public void onPut(long token) {
                  events.ended();
                }

                @Override
                public void onDelete(long token, boolean existed) {
                  events.ended();
                }

                @Override
                public void onError(long token, ErdaException error) {
                  events.failed(error.getMessage());
                }
              });
      return new Client() {
        @Override
        public int doWork() {
          return client.doWork();
        }

        @Override
        public void get(MemorySegment key) {
          client.get(0, key);
        }

        @Override
        public void put(MemorySegment key, MemorySegment value) {
          client.put(0, key, value);
        }

        @Override
        public void close() {
          client.close();
        }
      };
    }
  }

  /** A baseline; a FLUSH of its device reaches the persistence domain. */
  record Baseline(BaselineKind kind, int objects, int objectBytes) implements SimulatedScheme {
    private static final long TIMEOUT_NS = 10_000_000_000L;
    private static final int LOG_BYTES = 4 << 20;

    @Override
    public Server serve(
        MemoryDirectory directory,
        Device device,
        String address,
        LongSupplier nanoTime,
        RandomGenerator random)
        throws IOException {
      requireLock(directory);
      BaselineServer server =
          BaselineServer.open(
              kind,
              directory,
              // Each put may be a new key.
              BaselineGeometry.forObjects(2L * objects, objectBytes, LOG_BYTES),
              0,
              nanoTime,
              random);
      server.listen(device, device.listen(address), true);
      return new Server() {
        @Override
        public int doWork() {
          return server.doWork();
        }

        @Override
        public void close() {
          server.abandon();
        }
      };
    }

    @Override
    public Client connect(Device device, String address, LongSupplier nanoTime, Events events) {
      BaselineClient client =
          new BaselineClient(
              kind,
              device,
              address,
              TIMEOUT_NS,
              nanoTime,
              new BaselineClient.Events() {
                @Override
                public void got(long token, MemorySegment memory, long offset, int length) {
                  events.got(length);
                }

                @Override
                public void put(long token) {
                  events.ended();
                }

                @Override
                public void deleted(long token, boolean existed) {
                  events.ended();
                }

                @Override
                public void failed(long token, String why) {
                  events.failed(why);
                }

                @Override
                public void unknown(long token, String why) {
                  events.failed(why);
                }
              });
      return new Client() {
        @Override
        public int doWork() {
          return client.doWork();
        }

        @Override
        public void get(MemorySegment key) {
          client.get(0, key);
        }

        @Override
        public void put(MemorySegment key, MemorySegment value) {
          client.put(0, key, value);
        }

        @Override
        public void close() {
          client.close();
        }
      };
    }
  }

  private static void requireLock(MemoryDirectory directory) throws IOException {
    if (!directory.lock()) {
      throw new IOException("a simulated directory is in use");
    }
  }
}
