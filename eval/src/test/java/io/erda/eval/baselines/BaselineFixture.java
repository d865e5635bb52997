package io.erda.eval.baselines;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.pmem.MemoryDirectory;
import io.erda.rdma.Device;
import io.erda.rdma.Listener;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/** A server and its clients, stepped by one thread. */
final class BaselineFixture implements AutoCloseable {
  static final BaselineGeometry SMALL = new BaselineGeometry(128, 1 << 16, 1 << 20, 1 << 14);
  private static final long TIMEOUT_NS = 2_000_000_000L;

  /** Steps after which a test gives up. */
  private static final int STEPS_MAX = 5_000_000;

  final BaselineKind kind;
  final BaselineServer server;
  private final String address;

  BaselineFixture(
      BaselineKind kind,
      MemoryDirectory directory,
      BaselineGeometry geometry,
      long lagBytes,
      Device device,
      boolean flushesPersist,
      String address)
      throws IOException {
    this.kind = kind;
    directory.lock();
    server =
        BaselineServer.open(kind, directory, geometry, lagBytes, System::nanoTime, new Random(1));
    Listener listener = device.listen(address);
    this.address = listener.address();
    server.listen(device, listener, flushesPersist);
  }

  Client client(Device device) {
    return new Client(device);
  }

  /** Lets the server do all that it can. */
  void settle() {
    int idle = 0;
    while (idle < 100) {
      idle = server.doWork() == 0 ? idle + 1 : 0;
    }
  }

  @Override
  public void close() {
    server.close();
  }

  static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }

  /** A client whose calls step the server. */
  final class Client implements BaselineClient.Events, AutoCloseable {
    final BaselineClient core;
    private boolean ended;
    private byte[] value;
    private boolean existed;
    String failure;

    private Client(Device device) {
      core = new BaselineClient(kind, device, address, TIMEOUT_NS, System::nanoTime, this);
    }

    byte[] get(MemorySegment key) {
      begin();
      core.get(1, key);
      run();
      return value;
    }

    String get(String key) {
      byte[] found = get(bytes(key));
      return found == null ? null : new String(found, UTF_8);
    }

    void put(MemorySegment key, MemorySegment to) {
      begin();
      core.put(2, key, to);
      run();
    }

    void put(String key, String to) {
      put(bytes(key), bytes(to));
    }

    boolean delete(MemorySegment key) {
      begin();
      core.delete(3, key);
      run();
      return existed;
    }

    boolean delete(String key) {
      return delete(bytes(key));
    }

    /** Submits a put and takes only this client's steps until {@code steps} of the server. */
    void beginPut(String key, String to) {
      begin();
      core.put(4, bytes(key), bytes(to));
    }

    private void begin() {
      ended = false;
      failure = null;
    }

    boolean step() {
      core.doWork();
      return ended;
    }

    void run() {
      finish();
      if (failure != null) {
        throw new IllegalStateException(failure);
      }
    }

    /** Runs the operation to its end, however it ends. */
    void finish() {
      for (int step = 0; !ended; step++) {
        if (step == STEPS_MAX) {
          throw new IllegalStateException("an operation does not end");
        }
        core.doWork();
        server.doWork();
      }
    }

    @Override
    public void got(long token, MemorySegment memory, long offset, int length) {
      ended = true;
      value = length < 0 ? null : memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
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
      failure = "failed: " + why;
    }

    @Override
    public void unknown(long token, String why) {
      ended = true;
      failure = "unknown: " + why;
    }

    @Override
    public void close() {
      core.close();
    }
  }
}
