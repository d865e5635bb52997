package io.erda.eval.peers.process;

import io.erda.eval.load.LoadResult;
import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.ProcessException;
import java.time.Duration;

/**
 * A system with a store in a directory: the process that uses it, and its host, if there is one.
 * The using process is measured; it starts without a class cache, as a user's would.
 */
public final class PeerProcess implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofMinutes(2);
  private static final Duration ANSWER_TIMEOUT = Duration.ofMinutes(30);

  private final PeerSystem system;
  private final Children children;
  private final PeerHost host;
  private final Child child;
  private String durability;

  private PeerProcess(PeerSetup setup, PeerHost host, Child child) {
    this.system = setup.system();
    this.children = setup.children();
    this.host = host;
    this.child = child;
  }

  /** Opens the store in the directory, or creates it. */
  public static PeerProcess start(PeerSetup setup) {
    return start(setup, PeerHost.start(setup));
  }

  /**
   * Opens a store that is served already, by a server that the caller owns.
   *
   * @param location of the store
   */
  public static PeerProcess join(PeerSetup setup, String location) {
    return start(setup, new PeerHost(location, () -> {}));
  }

  private static PeerProcess start(PeerSetup setup, PeerHost host) {
    PeerSystem system = setup.system();
    Child child = setup.startWorker(system.adapter(), host.location());
    PeerProcess process = new PeerProcess(setup, host, child);
    try {
      String opened = child.await(PeerAnswer.OPEN, START_TIMEOUT);
      process.durability = PeerAnswer.durability(system.title(), opened);
      return process;
    } catch (ProcessException e) {
      process.close();
      throw e;
    }
  }

  /** Returns in words the failures that a put that has returned survives. */
  public String durability() {
    return durability;
  }

  /** Puts every object once. Returns nanoseconds each. */
  public double load() {
    return ask("load");
  }

  /**
   * Does the same, and ends the process when that takes too long.
   *
   * @throws ProcessException when it does
   */
  public double load(Duration most) {
    return ask("load " + most.toNanos());
  }

  /**
   * Gets every object once.
   *
   * @throws ProcessException when one is missing, or another object is there
   */
  public void verify() {
    ask("verify");
  }

  /** Puts objects at random for a time. Returns nanoseconds each. */
  public double put(Duration time) {
    return ask("put " + time.toNanos());
  }

  /** Gets objects at random for a time. Returns nanoseconds each. */
  public double get(Duration time) {
    return ask("get " + time.toNanos());
  }

  /** Inserts every object once, as YCSB does when it loads. */
  public LoadResult ycsbLoad(String workload) {
    return askTimed("ycsb-load " + workload);
  }

  /**
   * Does operations of a YCSB workload for a time, and times each.
   *
   * @param workload a name of {@link io.erda.ycsb.Workloads}, of one that inserts nothing
   */
  public LoadResult ycsb(String workload, Duration time) {
    return askTimed("ycsb " + workload + " " + time.toNanos());
  }

  /**
   * Gets and puts objects at random, one each {@code interval}, and times each from when it was
   * due.
   */
  public LoadResult paced(Duration time, Duration interval) {
    return askTimed("paced " + time.toNanos() + " " + interval.toNanos());
  }

  /**
   * Gets and updates objects for a time by several threads at once, each with a client of its own.
   * The first third of the time is not counted.
   *
   * @param getsPercent how many of a hundred operations are gets
   * @return nanoseconds from one operation of all threads to the next
   */
  public double threads(int threads, int getsPercent, KeyChoice keys, Duration time) {
    return ask("threads " + threads + " " + getsPercent + " " + keys + " " + time.toNanos());
  }

  /**
   * Inserts objects that are not there by several threads at once: the next ones of those that the
   * store is made for. The first third is not counted.
   *
   * @param most the number of objects after which it ends before its time
   * @return nanoseconds from one insert of all threads to the next
   */
  public double inserts(int threads, long most, Duration time) {
    return ask("inserts " + threads + " " + most + " " + time.toNanos());
  }

  private LoadResult askTimed(String line) {
    child.tell(line);
    return PeerAnswer.result(child.await(PeerAnswer.TIMED, ANSWER_TIMEOUT));
  }

  private double ask(String line) {
    child.tell(line);
    return PeerAnswer.nsPerOperation(system.title(), child.await(PeerAnswer.DONE, ANSWER_TIMEOUT));
  }

  /** The process that uses the store. */
  public long pid() {
    return child.pid();
  }

  /** Kills its processes in any state: objects that were put must still be there. */
  @Override
  public void close() {
    child.kill();
    children.forget(child);
    host.ending().run();
  }
}
