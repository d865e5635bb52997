package io.erda.server;

import io.erda.pmem.FailedStoreException;
import io.erda.pmem.FileErrors;
import io.erda.protocol.ErdaException;
import io.erda.protocol.JvmErrors;
import io.erda.rdma.Poller;
import io.erda.rdma.StackRoom;
import io.erda.server.engine.service.Loss;
import io.erda.server.engine.service.ServerCore;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The thread that drives a {@link ServerCore}. It polls as long as the poller allows, then sleeps
 * on its devices. Owns all objects that it is given.
 */
final class ServerThread implements AutoCloseable {
  /** How often the thread checks whether a full file system has room again, in nanoseconds. */
  private static final long ROOM_LOOK_NS = 1_000_000_000L;

  /** How long one wait for the end takes at most. */
  private static final long LOOK_MS = 50;

  private final ServerAssembly assembly;
  private final Steps steps;
  private final ServedDevices devices;
  private final Consumer<Throwable> failureListener;

  // Used only by the server's thread after it was started.

  private StoreService served;
  private long nextRoomLookNs = System.nanoTime();

  private final Poller poller;
  private final AskedFigures askedFigures = new AskedFigures();
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean closing;
  private volatile Throwable failure;

  /**
   * The work of the thread. This object and the final steps are made in advance, because the thread
   * may get no memory at its end.
   */
  private final Runnable serve = this::serve;

  /** The final steps, in order. */
  private final List<Runnable> ending = ending();

  /**
   * The final steps that failed for lack of memory. Other threads read this after the thread has
   * ended.
   */
  private final boolean[] cutShort = new boolean[ending.size()];

  private ServerThread(
      ServerAssembly assembly,
      StoreService served,
      Steps steps,
      Consumer<Throwable> failureListener) {
    this.assembly = assembly;
    this.served = served;
    this.steps = steps;
    this.devices = assembly.devices;
    this.failureListener = failureListener;
    this.poller =
        new Poller(
            System::nanoTime,
            Poller.DEFAULT_SPIN_NS,
            assembly.options.pollingNs(),
            new OtherCore()::take);
  }

  /**
   * Starts the thread. When that fails, the devices and the log are still the caller's.
   *
   * @param served the store that is served first
   * @param steps the steps of its core
   * @param failureListener is called with the error that ends the server, before the connections
   *     end
   * @param daemon whether the JVM may end while the thread runs; for the store this is like a kill
   */
  static ServerThread start(
      ServerAssembly assembly,
      StoreService served,
      Steps steps,
      Consumer<Throwable> failureListener,
      boolean daemon) {
    boolean started = false;
    ServerThread server;
    try {
      server = new ServerThread(assembly, served, steps, failureListener);
      served.core().prepareFigures();
      Thread thread = new Thread(server::run, "erda-server");
      thread.setDaemon(daemon);
      thread.start();
      started = true;
    } finally {
      if (!started) {
        served.endThreads();
        assembly.watch.close();
      }
    }
    assembly.failures.onFirst(() -> {
      server.closing = true;
      server.devices.wakeup();
    });
    return server;
  }

  /** Waits until the server has ended. Returns why it failed, or null when it was closed. */
  Throwable await() throws InterruptedException {
    while (!isEnded()) {
      // The wait goes on.
    }
    return failure;
  }

  /**
   * Waits for a while until the server has ended. A wait without a bound might never end: an
   * earlier one that overflowed its stack may have left its place in the latch's queue, and the
   * latch wakes only the first of the queue.
   */
  private boolean isEnded() throws InterruptedException {
    return ended.await(LOOK_MS, TimeUnit.MILLISECONDS);
  }

  /**
   * Returns the current figures of the server, by name. Any thread may call it.
   *
   * @throws ErdaException.Unavailable when the server has ended, or does not answer in time
   */
  Map<String, Long> figures(Duration timeout) throws InterruptedException {
    return askedFigures.ask(timeout, devices::wakeup);
  }

  private void tellFailure() {
    if (failure != null) {
      failureListener.accept(failure);
    }
  }

  @Override
  public void close() {
    StackRoom.require(StackRoom.OF_CLOSE);
    closing = true;
    devices.wakeup();
    boolean interrupted = false;
    boolean over = false;
    while (!over) {
      try {
        over = isEnded();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    endWhatWasCutShort();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      attempt(serve);
      for (int i = 0; i < ending.size(); i++) {
        cutShort[i] = attempt(ending.get(i)) instanceof OutOfMemoryError;
      }
    } finally {
      ended.countDown();
    }
  }

  private List<Runnable> ending() {
    return List.of(
        () -> askedFigures.end(),
        () -> steps.end(),
        () -> served.files().close(),
        () -> assembly.watch.close(),
        this::vouchForNoOther,
        this::endPublishing,
        this::tellFailure,
        () -> devices.closeOthers(),
        this::endService,
        () -> served.store().close(),
        () -> devices.close(),
        () -> served.endSyncs(),
        this::tellWhatIsToBeMended,
        this::sayEnd);
  }

  private void endPublishing() {
    if (failure == null) {
      // Another thread of the server may have failed; the store still ends in order.
      failure = assembly.failures.first();
      served.core().finishPublishing();
    } else {
      served.core().breakOff();
    }
  }

  private void endService() {
    if (devices.readsOutlivePeer()) {
      served.core().leave();
    } else {
      served.core().close();
    }
  }

  /**
   * Prevents the record of a clean stop when a file lost its name, because the record would apply
   * to the file that has the name now, and when the device did not take bytes of a file. When
   * another server has opened the store, nothing is stored at all.
   */
  private void vouchForNoOther() {
    if (assembly.other.found() != null) {
      served.store().engine().abandon();
    } else if (isUnwritten(assembly.watch.loss())) {
      served.store().engine().becomeFailed();
    } else if (served.store().files().lost() != null) {
      served.store().engine().leaveNoRecord();
    }
  }

  private static boolean isUnwritten(Loss loss) {
    return loss != null && loss.of() == Loss.Of.BYTES;
  }

  private void tellWhatIsToBeMended() {
    Loss loss = assembly.watch.loss();
    if (assembly.watch.isUnanswered() && assembly.log != null) {
      assembly.log.say(
          Level.WARNING,
          "whether the directory of the store still has its name is not known: its path does not"
              + " answer");
    }
    String readOnly = served.core().readOnlyReason();
    if (loss != null) {
      if (assembly.log == null && readOnly == null) {
        assembly.news.readOnly(loss.words());
      }
      failure = lost(loss.words(), failure);
    } else if (failure == null && readOnly != null && !served.core().isFull()) {
      // With this exception the process gets the exit code for a problem that must be solved before
      // the next start.
      failure = new ErdaException.ReadOnly("the store was read-only: " + readOnly);
    }
  }

  /**
   * Runs one of the final steps. An error in it does not prevent the next step. Returns the error,
   * or null.
   */
  private Throwable attempt(Runnable step) {
    try {
      step.run();
      return null;
    } catch (Throwable e) {
      failure = failure == null ? e : failure;
      return e;
    }
  }

  /**
   * Repeats the final steps that failed in the server's thread for lack of memory. There may be
   * memory now, and the application can open the store again only when the store's files are
   * released.
   */
  private synchronized void endWhatWasCutShort() {
    for (int i = 0; i < cutShort.length; i++) {
      if (cutShort[i]) {
        cutShort[i] = false;
        attempt(ending.get(i));
      }
    }
  }

  private void sayEnd() {
    ServerLog log = assembly.log;
    if (log == null) {
      return;
    }
    if (failure == null) {
      log.say(Level.INFO, "ended");
    } else {
      String ofFiles = FileErrors.explain(failure);
      log.say(
          Level.ERROR,
          "ended because it failed: " + (ofFiles == null ? JvmErrors.tell(failure) : ofFiles));
    }
    log.close();
  }

  /**
   * Returns the exception of a server that ends because its store lost its name, or bytes. Other
   * failures may have followed from that.
   */
  private static Throwable lost(String loss, Throwable failure) {
    ErdaException.ReadOnly lost = new ErdaException.ReadOnly(loss);
    if (failure != null) {
      lost.addSuppressed(failure);
    }
    return lost;
  }

  /**
   * Opens a store whose file system was full again, as after a kill, if there is room now. Clients
   * reconnect.
   */
  private void goOnWhereThereIsRoom() {
    long nowNs = System.nanoTime();
    if (served.core().isFull() && nowNs - nextRoomLookNs >= 0) {
      if (served.core().hasRoomAgain()) {
        steps.change(this::openedAgain);
      }
      nextRoomLookNs = System.nanoTime() + ROOM_LOOK_NS;
    }
  }

  private ServerCore openedAgain() {
    StoreService before = served;
    // During recovery no client may write to the store's memory, and no thread may make a file for
    // the store.
    before.core().endConnections();
    before.endThreads();
    OpenedStore again = null;
    try {
      again = before.store().again();
      before.core().releasePorts();
      served = assembly.serve(again);
    } catch (ErdaException.Full | FailedStoreException e) {
      if (again != null) {
        again.engine().abandon();
        again.engine().close();
      }
      return before.core();
    }
    before.core().giveWay();
    if (assembly.log != null) {
      assembly.log.say(Level.INFO, "there is room again: puts and deletes go on");
    }
    return served.core();
  }

  private void serve() {
    while (!closing) {
      if (askedFigures.any()) {
        askedFigures.answer(steps::figures);
      }
      int work = steps.doWork();
      if (steps.mayPoll() && poller.mayPoll(work)) {
        continue;
      }
      goOnWhereThereIsRoom();
      long sleepNs = steps.arm();
      if (sleepNs > 0 && !closing && !askedFigures.any() && devices.await(sleepNs)) {
        poller.woken();
      } else {
        poller.reset();
      }
    }
  }
}
