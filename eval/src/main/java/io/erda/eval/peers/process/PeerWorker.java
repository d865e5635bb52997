package io.erda.eval.peers.process;

import io.erda.eval.load.LoadResult;
import io.erda.eval.peers.process.ClientThread.ThreadFailed;
import io.erda.eval.peers.process.PeerObjects.ObjectLost;
import io.erda.eval.peers.process.ThreadsTurn.Counted;
import io.erda.eval.peers.store.PeerPlace;
import io.erda.eval.peers.store.PeerStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import site.ycsb.WorkloadException;

/**
 * A process with one store open, and one thread that uses it, or several for some commands. It
 * executes commands, a line each, and answers each with a line: the number of operations and the
 * nanoseconds; for YCSB's workloads and a steady rate also the latencies.
 *
 * <p>Objects are loaded in random order, and then chosen uniformly, except in YCSB's workloads.
 */
public final class PeerWorker {
  /** Operations between two reads of the clock. */
  private static final int STRIDE = 256;

  /** The time limit was exceeded. The message is complete. */
  private static final class GaveUp extends RuntimeException {
    private static final long serialVersionUID = 1L;

    GaveUp(String message) {
      super(message);
    }
  }

  private final PeerStore store;
  private final PeerObjects objects;
  private final PacedTurn paced;
  private final ThreadsTurn threads;
  private final Map<String, YcsbTurn> workloads = new HashMap<>();

  private PeerWorker(PeerStore store, PeerObjects objects, ThreadsTurn threads) {
    this.store = store;
    this.objects = objects;
    this.paced = new PacedTurn(objects, System::nanoTime);
    this.threads = threads;
  }

  /** Arguments: the adapter's class, location, objects, bytes of a value, whether pipelined. */
  public static void main(String[] arguments) throws Exception {
    PeerPlace place =
        new PeerPlace(
            arguments[1],
            Long.parseLong(arguments[2]),
            Integer.parseInt(arguments[3]),
            Boolean.parseBoolean(arguments[4]));
    Class<? extends PeerStore> adapter = Class.forName(arguments[0]).asSubclass(PeerStore.class);
    try (PeerStore store = adapter.getConstructor(PeerPlace.class).newInstance(place);
        ThreadsTurn threads =
            new ThreadsTurn(store, place.objects(), place.valueBytes(), System::nanoTime)) {
      System.out.println(PeerAnswer.open(store.durability()));
      PeerObjects objects = new PeerObjects(store, place.objects(), place.valueBytes());
      new PeerWorker(store, objects, threads).serve();
    } catch (ObjectLost | GaveUp | ThreadFailed e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
    // Threads that a store has left behind must not keep the process alive.
    System.exit(0);
  }

  private void serve() throws IOException, WorkloadException, InterruptedException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      System.out.println(
          switch (words[0]) {
            case "load" -> load(words.length > 1 ? Long.parseLong(words[1]) : Long.MAX_VALUE);
            case "verify" -> verify();
            case "put" -> putFor(Long.parseLong(words[1]));
            case "get" -> getFor(Long.parseLong(words[1]));
            case "ycsb-load" -> timed(workload(words[1]).load(objects.count()));
            case "ycsb" -> timed(workload(words[1]).run(Long.parseLong(words[2])));
            case "paced" -> timed(paced.run(Long.parseLong(words[1]), Long.parseLong(words[2])));
            case "threads" ->
                counted(
                    threads.run(
                        Integer.parseInt(words[1]),
                        Integer.parseInt(words[2]),
                        KeyChoice.valueOf(words[3]),
                        Long.parseLong(words[4])));
            case "inserts" ->
                counted(
                    threads.insert(
                        Integer.parseInt(words[1]),
                        Long.parseLong(words[2]),
                        Long.parseLong(words[3])));
            default -> throw new IllegalArgumentException(line);
          });
    }
  }

  private String load(long nsMax) {
    long startNs = System.nanoTime();
    for (long number = 0; number < objects.count(); number++) {
      objects.put(number);
      if (number % STRIDE == 0 && System.nanoTime() - startNs > nsMax) {
        throw new GaveUp(number + " of " + objects.count() + " objects were put in the time");
      }
    }
    store.awaitPuts();
    return done(objects.count(), startNs);
  }

  private String verify() {
    long startNs = System.nanoTime();
    for (long number = 0; number < objects.count(); number++) {
      objects.get(number);
    }
    return done(objects.count(), startNs);
  }

  private String putFor(long ns) {
    long startNs = System.nanoTime();
    long operations = 0;
    do {
      for (int i = 0; i < STRIDE; i++) {
        objects.put(objects.anyNumber());
      }
      operations += STRIDE;
    } while (System.nanoTime() - startNs < ns);
    store.awaitPuts();
    String done = done(operations, startNs);
    store.settle();
    return done;
  }

  private String getFor(long ns) {
    long startNs = System.nanoTime();
    long operations = 0;
    do {
      for (int i = 0; i < STRIDE; i++) {
        objects.get(objects.anyNumber());
      }
      operations += STRIDE;
    } while (System.nanoTime() - startNs < ns);
    return done(operations, startNs);
  }

  private YcsbTurn workload(String name) throws WorkloadException {
    YcsbTurn turn = workloads.get(name);
    if (turn == null) {
      turn = new YcsbTurn(objects, name);
      workloads.put(name, turn);
    }
    return turn;
  }

  private String timed(LoadResult result) {
    store.settle();
    return PeerAnswer.timed(result);
  }

  private String counted(Counted counted) {
    store.settle();
    return PeerAnswer.done(counted.operations(), counted.ns());
  }

  private static String done(long operations, long startNs) {
    return PeerAnswer.done(operations, System.nanoTime() - startNs);
  }
}
