package io.erda.eval.experiments.keeping;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment.Context;
import io.erda.eval.experiments.cleaning.PacedLoad;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.Overwriter;
import io.erda.eval.load.ServedStore;
import io.erda.eval.process.Child;
import io.erda.eval.process.EchoChild;
import io.erda.eval.process.ProcessException;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Hours of load and faults on one store. Two processes overwrite it all the time except in the
 * quiet period of each cycle; the first lives from the beginning to the end, the second is killed
 * in every cycle. A cycle is: a quiet period, in which latencies are measured, together with the
 * time of waking another process, which is most of a put at this pace; a kill; a backup, restored
 * and verified; a full disk, if it may be filled; a restart of the server, by a signal or by a
 * kill, in some cycles of the first half; and a check of all keys.
 */
final class EnduranceRun implements AutoCloseable {
  private static final int VALUE_BYTES = 1024;
  private static final int WORKERS = 2;
  private static final double QUIET_SHARE = 0.4;
  private static final int PACE = 10_000;
  private static final int PUTS_A_TICK = 2_000;

  /** How many puts of a worker are refused, each followed by a pause. */
  private static final int PUTS_WITHOUT_ROOM = 50;

  private static final long TICK_NS = 250_000_000L;
  private static final int FILLING_BYTES = 1 << 16;
  private static final int FILLING_MAX = 1 << 17;
  private static final long ROOM_AGAIN_NS = 60_000_000_000L;

  private final Context context;
  private final Commands commands;
  private final long cycleNs;
  private final int cycles;
  private final long startNs = System.nanoTime();
  private final Dataset dataset;
  private final MemorySegment[] keys;
  private final MemorySegment value = Arena.ofAuto().allocate(VALUE_BYTES, 8);
  private final List<Overwriter> workers = new ArrayList<>();
  private final EnduranceCourse course = new EnduranceCourse();
  private ServedStore store;
  private EchoChild echo;
  private int kills;
  private int stops;
  private int backups;
  private int fullDisks;

  /**
   * @param cycles number of cycles
   * @param cycleNs the shortest time of a cycle
   */
  EnduranceRun(Context context, int cycles, long cycleNs) {
    this.context = context;
    this.commands = new Commands(context);
    this.cycles = cycles;
    this.cycleNs = cycleNs;
    this.dataset = new Dataset(context.quick() ? 2_000 : 20_000, VALUE_BYTES);
    this.keys = Dataset.keys(dataset.sequence(1 << 16, 3));
    value.copyFrom(dataset.value(1));
  }

  EnduranceCourse course() {
    return course;
  }

  int kills() {
    return kills;
  }

  int stops() {
    return stops;
  }

  int backups() {
    return backups;
  }

  /** Number of times that the disk was filled; 0 when the file system is too large for that. */
  int fullDisks() {
    return fullDisks;
  }

  long puts() {
    return workers.stream().mapToLong(Overwriter::done).sum();
  }

  void run() throws IOException, InterruptedException {
    store = ServedStore.create(context, "endurance", List.of());
    store.load(dataset);
    echo =
        EchoChild.start(context.children(), context.jvm(), context.newDirectory("endurance-echo"));
    Path remembered = context.newDirectory("endurance-workers");
    int keysOfWorker = context.quick() ? 5_000 : 50_000;
    for (int i = 0; i < WORKERS; i++) {
      Overwriter.Keys own =
          new Overwriter.Keys(keysOfWorker, VALUE_BYTES, i == 0 ? "uniform" : "zipfian");
      workers.add(Overwriter.start(context, store.server().uri(), remembered, i, own));
    }
    for (int cycle = 0; cycle < cycles; cycle++) {
      context.progress().step("cycle " + (cycle + 1) + " of " + cycles);
      cycle(cycle);
      context.progress().done("");
    }
    workers.forEach(Overwriter::end);
    store.close();
    Commands.verify(store.data());
  }

  private void cycle(int cycle) throws IOException, InterruptedException {
    long beganNs = System.nanoTime();
    say("quiet");
    quiet((long) (cycleNs * QUIET_SHARE));
    say("a client is killed");
    killWorker();
    say("backup");
    backUp();
    if (FullDisk.isAllowedIn(store.data())) {
      say("full disk");
      fillDisk();
    }
    if (restarts(cycle)) {
      say("restart");
      restart(cycle % 4 == 2);
    }
    say("load");
    do {
      tick(PUTS_A_TICK);
    } while (System.nanoTime() - beganNs < cycleNs);
    say("check");
    workers.forEach(Overwriter::check);
    workers.forEach(Overwriter::awaitChecked);
  }

  private void say(String what) {
    context.progress().at(what);
  }

  /**
   * Whether to restart the server. In the second half one server lives on, to show any growth in
   * it.
   */
  private boolean restarts(int cycle) {
    return cycle > cycles / 8 && cycle <= cycles / 2 && cycle % 2 == 0;
  }

  private void quiet(long forNs) throws IOException, InterruptedException {
    PacedLoad.Times times;
    try (PacedLoad load = new PacedLoad(store.connect(), keys, value, echo::roundTripNs)) {
      load.start(PACE);
      Thread.sleep(forNs / 1_000_000);
      times = load.take();
    }
    course.add(
        new EnduranceCourse.Sample(
            (System.nanoTime() - startNs) / 1e9,
            ProcessFigures.of(store.server().pid()),
            ProcessFigures.of(workers.getFirst().pid()),
            bytesOf(store.data()),
            filesIn(store.data()).size(),
            EnduranceCourse.Latency.of(times.gets()),
            EnduranceCourse.Latency.of(times.puts()),
            EnduranceCourse.Latency.of(times.compared())));
  }

  /**
   * Returns the files in a directory. Files of a store may appear and disappear during the call.
   */
  private static List<Path> filesIn(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory, 1)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }

  private static long bytesOf(Path directory) throws IOException {
    long bytes = 0;
    for (Path file : filesIn(directory)) {
      bytes += Files.exists(file) ? Files.size(file) : 0;
    }
    return bytes;
  }

  /** Both workers put some, followed by a pause: half a load, so that other work is not delayed. */
  private void tick(int puts) throws InterruptedException {
    long beganNs = System.nanoTime();
    workers.forEach(worker -> worker.run(puts));
    workers.forEach(Overwriter::awaitRan);
    Thread.sleep(Math.max(0, TICK_NS - (System.nanoTime() - beganNs)) / 1_000_000);
  }

  private void killWorker() {
    Overwriter victim = workers.getLast();
    workers.forEach(worker -> worker.run(PUTS_A_TICK));
    long half = victim.done() + PUTS_A_TICK / 2;
    while (victim.done() < half) {
      Thread.onSpinWait();
      victim.requireAlive();
    }
    victim.kill();
    kills++;
    workers.getFirst().awaitRan();
    victim.startAgain(store.server().uri());
  }

  /** Makes a backup while the workers put. */
  private void backUp() throws IOException, InterruptedException {
    Path directory = context.newDirectory("endurance-backup");
    Child backup = commands.backup(store.server().uri(), directory);
    while (backup.isAlive()) {
      tick(PUTS_A_TICK);
    }
    commands.await(backup);
    Path data;
    try (ServedStore restored =
        ServedStore.create(context, "endurance-restored", List.of("--capacity", "1G"))) {
      data = restored.data();
      commands.restore(restored.server().uri(), directory);
    }
    Commands.verify(data);
    context.children().removeNow(data);
    context.children().removeNow(directory);
    backups++;
  }

  /** Fills the disk: new keys are refused at some point, and accepted again once there is room. */
  private void fillDisk() throws IOException, InterruptedException {
    try (ErdaClient client = store.connect()) {
      int stored;
      try (FullDisk _ = new FullDisk(context.temporaryDirectory())) {
        stored = putUntilRefused(client);
        tick(PUTS_WITHOUT_ROOM);
        for (int i = 0; i < stored; i++) {
          client.delete(fillingKey(i));
        }
      }
      awaitRoom(client);
    }
    fullDisks++;
  }

  private static byte[] fillingKey(int number) {
    return ("filling " + number).getBytes(StandardCharsets.UTF_8);
  }

  private static int putUntilRefused(ErdaClient client) {
    byte[] bytes = new byte[FILLING_BYTES];
    for (int i = 0; i < FILLING_MAX; i++) {
      try {
        client.put(fillingKey(i), bytes);
      } catch (ErdaException.Full e) {
        return i;
      }
    }
    throw new ProcessException("the disk is full, and " + FILLING_MAX + " puts found room");
  }

  private static void awaitRoom(ErdaClient client) throws InterruptedException {
    byte[] key = fillingKey(0);
    for (long untilNs = System.nanoTime() + ROOM_AGAIN_NS; ; ) {
      try {
        client.put(key, new byte[FILLING_BYTES]);
        client.delete(key);
        return;
      } catch (ErdaException.Full e) {
        if (System.nanoTime() - untilNs > 0) {
          throw new ProcessException("the disk has room again, and puts are refused", e);
        }
        Thread.sleep(100);
      }
    }
  }

  /** Restarts the server in the middle of puts. */
  private void restart(boolean byKill) {
    workers.forEach(worker -> worker.run(PUTS_A_TICK));
    if (byKill) {
      store.server().kill();
      kills++;
    } else {
      store.close();
      stops++;
    }
    store.startAgain();
    workers.forEach(Overwriter::awaitRan);
  }

  @Override
  public void close() {
    if (echo != null) {
      echo.close();
    }
    workers.forEach(Overwriter::close);
  }
}
