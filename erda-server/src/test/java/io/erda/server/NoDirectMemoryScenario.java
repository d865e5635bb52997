package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import io.erda.client.ErdaFutures;
import io.erda.client.OperationHandler;
import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * An application with an embedded store, which opens clients of each kind while it has no direct
 * memory left, and again when it has some. Run as {@code NoDirectMemoryScenario DIRECTORY}; prints
 * {@code done}.
 */
final class NoDirectMemoryScenario {
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final int LARGEST = 1 << 20;
  private static final int SMALLEST = 1 << 16;

  private static final class Ignoring implements OperationHandler {
    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {}

    @Override
    public void onPut(long token) {}

    @Override
    public void onDelete(long token, boolean existed) {}

    @Override
    public void onError(long token, ErdaException error) {}
  }

  private NoDirectMemoryScenario() {}

  public static void main(String[] arguments) throws Exception {
    try (ErdaStore store = ErdaStore.open(Path.of(arguments[0]), SmallStore.OPTIONS);
        ErdaClientPool pool = new ErdaClientPool(store::client, 2, ErdaClientPool.BORROW_TIMEOUT)) {
      OperationHandler none = new Ignoring();
      List<ByteBuffer> filled = fill();
      requireTold(store::client);
      requireTold(pool::borrow);
      requireTold(() -> store.asyncClient(ClientOptions.DEFAULT, none));
      requireTold(() -> store.futures(ClientOptions.DEFAULT, 1));
      filled.clear();
      pool.put(KEY, KEY);
      store.asyncClient(ClientOptions.DEFAULT, none).close();
      try (ErdaClient client = store.client();
          ErdaFutures futures = store.futures(ClientOptions.DEFAULT, 1)) {
        System.out.println(client.get(KEY).length + futures.get(KEY).get().length);
      }
    }
    System.out.println("done");
  }

  /** Leaves less than a client needs. */
  private static List<ByteBuffer> fill() {
    List<ByteBuffer> filled = new ArrayList<>();
    for (int bytes = LARGEST; bytes >= SMALLEST; bytes /= 4) {
      try {
        while (true) {
          filled.add(ByteBuffer.allocateDirect(bytes));
        }
      } catch (OutOfMemoryError e) {
        // As full as can be.
      }
    }
    return filled;
  }

  private static void requireTold(Runnable open) {
    try {
      open.run();
    } catch (ErdaException.Unusable e) {
      if (e.getMessage().startsWith("can't connect to ") && e.getMessage().contains("direct")) {
        System.out.println(e.getMessage());
        return;
      }
      throw e;
    }
    throw new AssertionError("there was memory");
  }
}
