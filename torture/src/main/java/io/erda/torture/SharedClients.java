package io.erda.torture;

import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * A pool of blocking clients and more threads than clients. A thread takes a client, does some
 * operations, hands the client over and puts it back; now and then it ends without handing it over,
 * which has the same effect. One more thread calls clients that others own, which must throw, and
 * closes clients while others use them.
 */
final class SharedClients implements AutoCloseable {
  private static final int WORKERS = 3;

  /** Each worker has a log, and so has the thread that disturbs them. */
  static final int LOGS = WORKERS + 1;

  private static final int CLIENTS = 2;
  private static final int CALLS_MAX = 40;
  private static final int TURNS_MAX = 200;
  private static final long DISTURB_NS = 8_000_000;

  /** One in so many disturbances closes a client. */
  private static final int CLOSE_ODDS = 12;

  /** A worker: a sequence of threads, one at a time, with its own log. */
  private final class Worker {
    final SplittableRandom random = SharedClients.this.random.split();
    final BlockingCaller caller;
    final Watchdog.Watch watch = setting.watchdog().watch();
    Thread thread;

    Worker(int client) throws IOException {
      caller = caller(client);
    }

    void start() {
      thread = new Thread(this::run, "worker");
      thread.start();
    }

    private void run() {
      for (int turns = random.nextInt(1, TURNS_MAX); turns > 0; turns--) {
        if (setting.pace().ending()) {
          return;
        }
        turn(turns == 1);
      }
    }

    private void turn(boolean last) {
      ErdaClient client = take(watch);
      if (client == null) {
        setting.pace().pause(ClientLog.Outcome.FAILED, random);
        return;
      }
      ClientLog.Outcome outcome = use(client);
      boolean open = outcome != ClientLog.Outcome.CLOSED;
      if (open && outcome != ClientLog.Outcome.NOT_OWNED && !last) {
        try {
          client.handOver();
        } catch (IllegalStateException e) {
          open = false;
        }
      }
      giveBack(client, open);
      if (outcome == ClientLog.Outcome.NOT_OWNED) {
        setting.pace().pause(outcome, random);
      }
    }

    /** Makes some calls, until one shows that the client is closed or another thread's. */
    private ClientLog.Outcome use(ErdaClient client) {
      ClientLog.Outcome outcome = ClientLog.Outcome.NOT_OWNED;
      int calls = random.nextInt(1, CALLS_MAX);
      for (int i = 0; i < calls && !setting.pace().ending(); i++) {
        outcome = caller.step(client, random, setting.pace().keys(), false);
        if (outcome == ClientLog.Outcome.CLOSED) {
          return outcome;
        }
        if (outcome == ClientLog.Outcome.NOT_OWNED) {
          if (i > 0) {
            Complaint.say("a thread that owned a client was told that another one does");
          }
          return outcome;
        }
        setting.pace().pause(outcome, random);
      }
      return outcome;
    }
  }

  private final TortureClient.Setting setting;
  private final SplittableRandom random;
  private final ConcurrentLinkedQueue<ErdaClient> free = new ConcurrentLinkedQueue<>();
  private final List<ErdaClient> all = new CopyOnWriteArrayList<>();
  private final Semaphore missing = new Semaphore(CLIENTS);
  private final List<Worker> workers = new ArrayList<>();
  private final BlockingCaller disturber;
  private final Watchdog.Watch watch;

  SharedClients(TortureClient.Setting setting, SplittableRandom random) throws IOException {
    this.setting = setting;
    this.random = random;
    this.watch = setting.watchdog().watch();
    for (int i = 0; i < WORKERS; i++) {
      workers.add(new Worker(setting.firstClient() + i));
    }
    this.disturber = caller(setting.firstClient() + WORKERS);
  }

  private BlockingCaller caller(int client) throws IOException {
    return new BlockingCaller(setting.files(), client, setting.keysMax(), setting.watchdog());
  }

  /** Works until the pace ends. */
  void run() throws InterruptedException {
    workers.forEach(Worker::start);
    while (!setting.pace().ending()) {
      LockSupport.parkNanos(random.nextLong(DISTURB_NS));
      disturb();
      for (Worker worker : workers) {
        if (!worker.thread.isAlive()) {
          worker.thread.join();
          worker.start();
        }
      }
    }
    for (Worker worker : workers) {
      // The watchdog ends the process when a worker hangs.
      worker.thread.join();
    }
    for (ErdaClient client : all) {
      close(client);
    }
  }

  private void disturb() {
    List<ErdaClient> now = List.copyOf(all);
    if (now.isEmpty()) {
      return;
    }
    ErdaClient client = now.get(random.nextInt(now.size()));
    if (random.nextInt(CLOSE_ODDS) == 0) {
      close(client);
      return;
    }
    ClientLog.Outcome outcome =
        disturber.call(client, Pace.operation(random), setting.pace().key(random));
    if (outcome != ClientLog.Outcome.NOT_OWNED && outcome != ClientLog.Outcome.CLOSED) {
      // The client had no owner, between two threads: this thread must not keep it.
      try {
        client.handOver();
      } catch (IllegalStateException e) {
        throw new AssertionError("nobody but this thread closes clients", e);
      }
    }
  }

  private void close(ErdaClient client) {
    watch.begin("close() under another thread", Watchdog.CLOSE_NS);
    client.close();
    watch.end();
  }

  /** A client that no other worker has, or null when there is none. */
  private ErdaClient take(Watchdog.Watch of) {
    ErdaClient client = free.poll();
    if (client != null || !missing.tryAcquire()) {
      return client;
    }
    of.begin("connect()", Watchdog.CONNECT_NS);
    try {
      client = ErdaClient.connect(ErdaUri.parse(setting.uri()), Watchdog.OPTIONS);
      all.add(client);
      return client;
    } catch (ErdaException.Unavailable | ErdaException.Refused e) {
      missing.release();
      return null;
    } finally {
      of.end();
    }
  }

  private void giveBack(ErdaClient client, boolean open) {
    if (open) {
      free.add(client);
    } else {
      all.remove(client);
      missing.release();
    }
  }

  @Override
  public void close() throws IOException {
    for (Worker worker : workers) {
      worker.caller.close();
    }
    disturber.close();
  }
}
