package io.erda.torture;

import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaUri;
import io.erda.client.OperationHandler;
import io.erda.protocol.ErdaException;
import io.erda.simulation.history.History;
import io.erda.simulation.history.OperationKind;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Asynchronous clients, one after the other, whose handler throws, submits further operations and
 * closes its client. Clients end in different ways: closed by its thread, by its handler, by
 * another thread in the middle of operations, or by a thread to which it was handed over. In any
 * case the handler must receive the outcome of every operation once, and its exceptions must be
 * thrown.
 */
final class PipelinedClients implements AutoCloseable {
  private static final long LIFE_NS_MAX = 1_500_000_000;
  private static final long AWAIT_NS = 1_000_000;

  /** Percentage of the handler's calls that throw. */
  private static final int THROWS = 12;

  private static final int SUBMITS = 25;

  /** How a client ends. */
  private enum End {
    BY_ITS_THREAD,
    BY_ITS_HANDLER,
    BY_ANOTHER_THREAD,
    HANDED_OVER
  }

  private final TortureClient.Setting setting;
  private final SplittableRandom random;
  private final ClientLog log;
  private final OperationsInFlight inFlight;
  private final HandlerExceptions exceptions = new HandlerExceptions();

  PipelinedClients(TortureClient.Setting setting, SplittableRandom random) throws IOException {
    this.setting = setting;
    this.random = random;
    this.log = new ClientLog(setting.files(), setting.firstClient(), setting.keysMax());
    this.inFlight = new OperationsInFlight(log, setting.watchdog()::awakeNs);
  }

  /** Runs one client after the other, until the pace ends. */
  void run() throws InterruptedException {
    while (!setting.pace().ending()) {
      Life life;
      try {
        life = new Life(random.split());
      } catch (ErdaException.Unavailable | ErdaException.Refused e) {
        setting.pace().pause(ClientLog.Outcome.FAILED, random);
        continue;
      }
      life.run();
    }
  }

  @Override
  public void close() throws IOException {
    log.close();
  }

  /** The handler of one client. */
  private final class Life implements OperationHandler {
    private final SplittableRandom random;
    private final End end;
    private final long untilNs;
    private final Watchdog.Watch watch = setting.watchdog().watch();
    private final ErdaAsyncClient client;
    private volatile boolean otherCloses;
    private volatile boolean handlerCloses;
    private volatile ClientLog.Outcome latest = ClientLog.Outcome.DONE;

    Life(SplittableRandom random) {
      this.random = random;
      this.end = End.values()[random.nextInt(End.values().length)];
      this.untilNs = System.nanoTime() + random.nextLong(LIFE_NS_MAX);
      this.client = ErdaAsyncClient.connect(ErdaUri.parse(setting.uri()), Watchdog.OPTIONS, this);
    }

    void run() throws InterruptedException {
      switch (end) {
        case BY_ITS_THREAD -> work(untilNs);
        case BY_ITS_HANDLER -> {
          work(untilNs);
          handlerCloses = true;
          // The handler closes the client at its next call.
          work(Long.MAX_VALUE);
        }
        case BY_ANOTHER_THREAD -> {
          Thread closer = new Thread(this::closeLater, "closer");
          closer.start();
          work(Long.MAX_VALUE);
          closer.join();
        }
        case HANDED_OVER -> {
          work(untilNs);
          client.handOver();
          long thenUntilNs = System.nanoTime() + random.nextLong(LIFE_NS_MAX);
          Thread next = new Thread(() -> work(thenUntilNs), "next-owner");
          next.start();
          next.join();
        }
      }
      close();
      setting.watchdog().forget(watch);
      inFlight.requireNone();
      exceptions.requireAllCaught();
    }

    private void closeLater() {
      while (System.nanoTime() - untilNs < 0 && !setting.pace().ending()) {
        LockSupport.parkNanos(random().nextLong(AWAIT_NS));
      }
      otherCloses = true;
      Watchdog.Watch own = setting.watchdog().watch();
      own.begin("close() by another thread", Watchdog.CLOSE_NS);
      try {
        client.close();
      } catch (HandlerExceptions.Thrown e) {
        exceptions.caught(e);
      }
      setting.watchdog().forget(own);
    }

    private void close() {
      watch.begin("close()", Watchdog.CLOSE_NS);
      try {
        client.close();
      } catch (HandlerExceptions.Thrown e) {
        exceptions.caught(e);
      }
      watch.end();
    }

    /** Works until a time, or until the client is closed. */
    private void work(long endNs) {
      boolean open = true;
      while (open && (endNs == Long.MAX_VALUE || System.nanoTime() - endNs < 0)) {
        if (setting.pace().ending() && endNs != Long.MAX_VALUE) {
          return;
        }
        for (boolean more = true; more; more = more && setting.pace().bursts()) {
          more = submit();
        }
        open = turn();
        inFlight.compare(client.inFlight(), () -> otherCloses || handlerCloses);
        String late = inFlight.late();
        if (late != null) {
          setting.watchdog().late(late);
        }
        ClientLog.Outcome outcome = latest;
        latest = ClientLog.Outcome.DONE;
        setting.pace().pause(outcome, random());
      }
    }

    /** Takes a turn of the client; false when it is closed. */
    private boolean turn() {
      watch.begin("doWork() or await()", Watchdog.CLOSE_NS);
      try {
        if (client.doWork() == 0) {
          client.await(AWAIT_NS);
        }
        return true;
      } catch (HandlerExceptions.Thrown e) {
        exceptions.caught(e);
        return true;
      } catch (IllegalStateException e) {
        return false;
      } finally {
        watch.end();
      }
    }

    private boolean submit() {
      SplittableRandom own = random();
      return inFlight.submit(Pace.operation(own), setting.pace().key(own), this::submit);
    }

    private boolean submit(long token, ClientLog.Begun begun) {
      MemorySegment key = log.key(begun.key());
      return switch (begun.operation()) {
        case GET -> client.get(token, key);
        case PUT -> client.put(token, key, log.value(begun));
        case DELETE -> client.delete(token, key);
        case PUT_IF ->
            begun.expected() == History.ABSENT
                ? client.putIfAbsent(token, key, log.value(begun))
                : client.compareAndSet(token, key, log.expected(begun), log.value(begun));
        case DELETE_IF -> client.compareAndDelete(token, key, log.expected(begun));
      };
    }

    /** A new generator, for threads that close clients. */
    private SplittableRandom random() {
      synchronized (random) {
        return random.split();
      }
    }

    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {
      inFlight.got(token, length < 0 ? memory : memory.asSlice(offset, length), length);
      misbehave();
    }

    @Override
    public void onPut(long token) {
      inFlight.done(token, OperationKind.PUT, 0);
      misbehave();
    }

    @Override
    public void onDelete(long token, boolean existed) {
      inFlight.done(token, OperationKind.DELETE, existed ? 1 : 0);
      misbehave();
    }

    @Override
    public void onConditional(long token, boolean done) {
      inFlight.compared(token, done);
      misbehave();
    }

    @Override
    public void onError(long token, ErdaException error) {
      latest = inFlight.failed(token, error);
      misbehave();
    }

    private void misbehave() {
      SplittableRandom own = random();
      if (own.nextInt(100) < SUBMITS) {
        submit();
      }
      if (handlerCloses) {
        client.close();
      }
      if (own.nextInt(100) < THROWS) {
        throw exceptions.next();
      }
    }
  }
}
