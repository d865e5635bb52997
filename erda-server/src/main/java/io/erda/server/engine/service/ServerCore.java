package io.erda.server.engine.service;

import io.erda.cleaner.Cleaner;
import io.erda.cleaner.Entries;
import io.erda.pmem.FailedStoreException;
import io.erda.pmem.MemoryFault;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.Message;
import io.erda.rdma.Device;
import io.erda.rdma.Listener;
import io.erda.server.engine.events.CleaningRecorder;
import io.erda.server.engine.events.ServiceListener;
import io.erda.server.engine.publishing.AnnouncedWords;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreFailures;
import io.erda.server.engine.store.StoreWriter;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Serves one {@link StoreEngine} to clients: it accepts connections, answers requests, and does the
 * housekeeping. It is a state machine that {@link #doWork()} advances; it never blocks and reads
 * only the clock that it was given. One thread. Owns the engine and its listeners, borrows the
 * devices.
 *
 * <p>The server does not take part in gets: clients READ one-sided (rule 9). Puts and deletes that
 * arrive in one step are published as one batch.
 */
public final class ServerCore implements AutoCloseable {
  private static final long HOUSEKEEPING_NS = 1_000_000;

  /** Housekeeping that is due waits for a step without work, but for this many steps at most. */
  private static final int PUT_OFF_MAX = 4;

  private static final long ACCEPT_NS = 50_000;

  /**
   * The longest sleep in nanoseconds. Housekeeping, such as ending idle reservations, runs at least
   * this often.
   */
  private static final long SLEEP_NS_MAX = 1_000_000_000L;

  /**
   * The longest sleep in nanoseconds while a request waits for space, because other threads give
   * back space.
   */
  private static final long SLEEP_WAITED_FOR_NS_MAX = 1_000_000;

  /**
   * The number of cleaning steps that one step of the server takes while no client has requests.
   */
  private static final int CLEANER_STEPS = 64;

  /** Threads of devices handle requests at most for so long without a step. */
  private static final long STEP_WITHIN_NS = 10_000_000;

  /** An idle server checks for requests after cleaning for this long, at the end of a step. */
  private static final long IDLE_CLEANING_NS_MAX = 1_000_000;

  private final StoreEngine engine;
  private final StoreWriter writer;
  private final LongSupplier nanoTime;
  private final Supplier<Loss> loss;

  /** Whether a loss was found. */
  private boolean isLost;

  private final MemoryGuard faults = new MemoryGuard();
  private final StoreFailures failures;
  private final Ports ports;
  private final ClientConnections connections;
  private final RegionFiles files;
  private final LeaseGrants leases;
  private final Admission admission;
  private final Publishing publishing;
  private final LocalPuts localPuts;
  private final Announcing announcing;
  private final RequestDispatch requests;
  private final ClientCommits commits;
  private final Answers answers;
  private final NamedFigures figures = new NamedFigures();
  private final ServiceListener told;
  private final Cleaner cleaner;
  private final IntSupplier growing = this::grow;
  private final IntSupplier cleaning = this::clean;
  private final MemoryGuard.Step<Connection> serving = this::answerAndArm;

  private long nextAcceptNs = Long.MIN_VALUE;
  private long nextHousekeepingNs;
  private int putOff;

  /** When the current step began, or the last one. */
  private long stepNs;

  /** When a step began last whose work no thread of a device would have done. */
  private long ownWorkNs;

  private final long pollingNs;

  /** Serves an opened store, alone; {@link #listen} makes it reachable. */
  public ServerCore(StoreEngine engine, ServiceOptions options, LongSupplier nanoTime) {
    this(engine, options, CoreSurroundings.NONE, nanoTime);
  }

  /** Serves an opened store; {@link #listen} makes it reachable. */
  public ServerCore(
      StoreEngine engine,
      ServiceOptions options,
      CoreSurroundings surroundings,
      LongSupplier nanoTime) {
    this(engine, options, surroundings, nanoTime, UnaryOperator.identity());
  }

  /**
   * Serves an opened store; the cleaner uses the table through a wrapper.
   *
   * @param overEntries wraps the cleaner's view of the table, which lets tests inject defects
   */
  public ServerCore(
      StoreEngine engine,
      ServiceOptions options,
      CoreSurroundings surroundings,
      LongSupplier nanoTime,
      UnaryOperator<Entries> overEntries) {
    this.engine = engine;
    this.nanoTime = nanoTime;
    this.ownWorkNs = nanoTime.getAsLong();
    this.pollingNs = options.pollingNs();
    this.loss = surroundings.loss();
    this.told = surroundings.listener();
    this.failures = new StoreFailures(engine, surroundings.failing());
    this.ports = new Ports(surroundings.abandoned());
    this.writer = new StoreWriter(engine, options.growth(), ports, told, surroundings.syncs());
    this.answers = new Answers(nanoTime);
    engine.beginIncarnation();
    engine.leftovers().tell(told::leftBehind, told::undone);
    this.connections =
        new ClientConnections(
            new UserShares(options.limits(), engine.log().geometry().capacityBytes()),
            this::leaving,
            this::left);
    SpaceRefusals refusals = new SpaceRefusals(told);
    this.files =
        new RegionFiles(
            engine.log(),
            failures,
            surroundings.files(),
            told,
            ports::strangers,
            nanoTime.getAsLong());
    this.publishing =
        new Publishing(
            writer, engine.log().geometry(), surroundings.syncs(), failures, refusals, nanoTime);
    this.leases =
        new LeaseGrants(
            engine.log(),
            engine.root(),
            writer.publication(),
            options,
            nanoTime,
            failures,
            files,
            refusals,
            connections,
            publishing,
            head -> cleaner().waitsFor(head),
            this::commits);
    this.cleaner =
        new Cleaner(
            engine.log(),
            overEntries.apply(writer.entries()),
            writer.live(),
            leases::endIn,
            new CleaningRecorder(told, nanoTime),
            options.cleaning());
    this.announcing = new Announcing(engine, writer, failures, refusals);
    this.requests =
        new RequestDispatch(
            engine.putMode(),
            engine.log().geometry().heads(),
            options.cleaning().enabled(),
            failures,
            refusals,
            publishing,
            announcing,
            leases,
            new KeyRequests(engine, writer, failures, publishing),
            new MapRequests(engine),
            cleaner,
            files.departures(),
            figures);
    this.commits =
        new ClientCommits(
            engine,
            writer,
            failures,
            requests,
            answers,
            nanoTime,
            surroundings.pause(),
            ports::strangers);
    this.localPuts =
        new LocalPuts(
            engine, writer, publishing, failures, requests, answers, connections, this::onFault);
    this.admission =
        new Admission(
            engine,
            failures,
            options,
            ports,
            connections,
            requests,
            leases,
            answers,
            told,
            connection -> admitted(connection, surroundings.turn()),
            surroundings.crowded(),
            commits);
    engine
        .log()
        .onLink(
            new ServedRegions(
                engine.log(),
                engine.root(),
                ports,
                connections,
                files.departures(),
                nanoTime,
                options.cleaning().leavingNs()));
    new ServerFigures(
            engine,
            writer,
            cleaner,
            files,
            leases,
            admission,
            refusals,
            ports,
            connections,
            failures,
            answers)
        .addTo(figures, requests::count);
    figures.add("batches.synced", publishing::groups);
    figures.add("committers", commits::committers);
    figures.add("committers.stalled", commits::stalled);
    figures.add("committers.defeated", commits::defeated);
  }

  /**
   * Lets clients of this process's own user commit updates and deletes by themselves, over devices
   * whose READs are loads. From now on {@link #beginTurn} comes before each step, and {@link
   * #endTurn} behind it. To be called before {@link #listen}. Does nothing if each put needs the
   * server: it is announced first, or visible data may still be lost, or waits for a device.
   */
  public void letClientsCommit() {
    if (writer.announced() == null && !engine.pending().pendingFirst() && publishing.isAtOnce()) {
      commits.open();
    }
  }

  private ClientCommits commits() {
    return commits;
  }

  /** How often a commit was ended because its client was stopped. */
  public long commitsDefeated() {
    return commits.defeated();
  }

  /** Keeps clients from committing by themselves until {@link #endTurn}. */
  public void beginTurn() {
    commits.begin();
  }

  /** Lets clients commit by themselves. */
  public void endTurn() {
    commits.end();
  }

  /**
   * Whether a step may find anything to do. Changes nothing, so that clients may commit meanwhile;
   * to be called by the thread that takes the steps.
   */
  public boolean mayHaveWork() {
    if (commits.committers() == 0) {
      return true;
    }
    long nowNs = nanoTime.getAsLong();
    return nowNs >= nextAcceptNs
        || nowNs >= nextHousekeepingNs
        || hasMore()
        || connections.mayHaveWork();
  }

  /** Serves the store on a device. */
  public void listen(Device device, Listener listener) {
    ports.add(new Port(device, listener, engine, device.readsNow() ? commits.file() : null));
  }

  public StoreEngine engine() {
    return engine;
  }

  /** Returns the writer, which makes all changes of the store. */
  public StoreWriter writer() {
    return writer;
  }

  public Cleaner cleaner() {
    return cleaner;
  }

  /** Adds a figure to what {@code stats} shows. */
  public void figure(String name, LongSupplier value) {
    figures.add(name, value);
  }

  /**
   * Adds a text to what {@code stats} shows: it is part of the figure's name, after a {@code =}.
   */
  public void text(String name, String text) {
    figures.add(Message.figureName(name + "=" + text), () -> 1);
  }

  /**
   * Returns the current figures, by name, as {@code stats} shows them; null when a memory fault
   * prevented reading them.
   */
  public Map<String, Long> figures() {
    Map<String, Long> values = faults.find(figures, NamedFigures::values);
    if (values == null) {
      onFault(faults.fault());
    }
    return values;
  }

  /** Loads the classes that the added figures need. Called before the store is served. */
  public void prepareFigures() {
    figures.readAll();
  }

  /** Returns why puts and deletes are refused; null when they are not. */
  public String readOnlyReason() {
    return failures.reason();
  }

  /**
   * Whether a store to a file of the store found no room. Then puts and deletes are refused, and no
   * byte is stored, until the store is opened again: see {@link #hasRoomAgain}.
   */
  public boolean isFull() {
    return failures.isFull();
  }

  /** Whether the full file system has room again. Makes a system call. */
  public boolean hasRoomAgain() {
    return failures.hasRoomAgain();
  }

  /**
   * Ends every connection of a store that is full, so that no client stores in it while it is
   * opened again. Clients that connect later are served as before.
   */
  public void endConnections() {
    publishing.finish();
    connections.closeAll();
  }

  /**
   * Deregisters all memory from the devices, because another {@code ServerCore} will serve the
   * store on them. The other {@code ServerCore} owns the listeners from now on.
   */
  public void releasePorts() {
    ports.release();
  }

  /**
   * Closes only the engine, because another {@code ServerCore} serves the store with the devices
   * and listeners.
   */
  public void giveWay() {
    commits.close(false);
    files.close();
    writer.close();
  }

  /** Takes one step. Returns 0 when there was no work. */
  public int doWork() {
    try {
      int work = faults.step(this, ServerCore::step);
      if (work != MemoryGuard.FAULT) {
        return work;
      }
      onFault(faults.fault());
    } catch (FailedStoreException e) {
      failures.becauseOf(e);
    }
    return 1;
  }

  /** The puts that clients of this process do in their own threads. */
  public LocalPuts localPuts() {
    return localPuts;
  }

  private void admitted(Connection connection, Turn turn) {
    // Elsewhere a batch waits for a device, or for other requests of the same step.
    if (turn != Turn.NONE && publishing.isAtOnce() && writer.announced() == null) {
      connection.serveIn(turn, this::serve);
    }
  }

  /**
   * Handles the requests of one connection, in the thread that has brought them.
   *
   * @return false when there is work left for the server's thread
   */
  private boolean serve(Connection connection) {
    if (connection.gone() || failures.any()) {
      return false;
    }
    long nowNs = nanoTime.getAsLong();
    requests.step(nowNs);
    int armed = 0;
    try {
      armed = faults.step(connection, serving);
      if (armed == MemoryGuard.FAULT) {
        onFault(faults.fault());
      }
    } catch (FailedStoreException e) {
      failures.becauseOf(e);
    }
    boolean due = nowNs - stepNs >= STEP_WITHIN_NS;
    return armed == 1 && !due && !failures.any() && !hasMore();
  }

  /** Returns 1 when the connection is armed, and nothing has come that it has not handled. */
  private int answerAndArm(Connection connection) {
    connection.doWork();
    publishing.publish();
    // Answers that were sent give room for further requests.
    connection.doWork();
    publishing.publish();
    return connection.arm() && !connection.gone() ? 1 : 0;
  }

  /**
   * Polls the connections without taking a whole step: notes which answers have been sent, and
   * passes on requests that have come.
   *
   * @return how many requests have come, which need a step
   */
  public long noteAnswered() {
    long before = requests.count();
    if (faults.step(connections, ClientConnections::doWork) == MemoryGuard.FAULT) {
      onFault(faults.fault());
    }
    return requests.count() - before;
  }

  /**
   * Handles a memory fault: a client has shortened its shared file, or a file of the store failed.
   */
  private void onFault(MemoryFault fault) {
    if (connections.giveUpWhoseMemoryIsLost()) {
      return;
    }
    // A fault of a connection that is given up may have passed, so that its pages are accessible
    // again.
    if (failures.isAnyShortened() || !connections.isAnyGone()) {
      failures.becauseOf(fault);
    }
  }

  private int step() {
    long nowNs = nanoTime.getAsLong();
    stepNs = nowNs;
    requests.step(nowNs);
    int work = 0;
    if (nowNs >= nextAcceptNs) {
      nextAcceptNs = nowNs + ACCEPT_NS;
      work += admission.doWork();
    }
    int handled = connections.doWork();
    handled += publishing.publish();
    work += handled;
    work += decideAnnounced(nowNs);
    work += failures.any() ? 0 : failures.step(growing);
    connections.closeGone();
    // A client that was just answered may need this processor core, so housekeeping waits for an
    // idle step.
    if (nowNs >= nextHousekeepingNs && (work == 0 || ++putOff == PUT_OFF_MAX)) {
      putOff = 0;
      nextHousekeepingNs = nowNs + HOUSEKEEPING_NS;
      noteLoss();
      leases.endIdle(nowNs);
      files.tellAppends();
      files.tend(nowNs, leases.anyWaits());
      commits.tend();
    }
    work += makeFiles() + cleanAndAnswer();
    if (work > handled || connections.unserved() > 0) {
      ownWorkNs = nowNs;
    }
    return work;
  }

  private void noteLoss() {
    Loss lost = loss.get();
    if (lost != null && !isLost) {
      isLost = true;
      switch (lost.of()) {
        case DIRECTORY -> failures.because(lost.words());
        case FILES -> {
          failures.attempt(engine.root()::forsake);
          failures.because(lost.words());
        }
        case BYTES -> failures.becauseUnwritten(lost.words());
      }
    }
  }

  /**
   * Whether the steps of the last while did only what threads of devices do where no step is taken.
   * Then it is better to sleep than to poll for more.
   */
  public boolean didOthersWork() {
    return stepNs - ownWorkNs > pollingNs;
  }

  /**
   * Publishes all requests that have arrived, and answers them: before a stop, while all devices
   * can still answer.
   */
  public void finishPublishing() {
    publishing.finish();
  }

  /** Decides announced puts, and tries the requests again that waited for them. */
  private int decideAnnounced(long nowNs) {
    AnnouncedWords announced = writer.announced();
    if (announced == null || failures.any()) {
      return 0;
    }
    return failures.step(() -> announced.doWork(nowNs)) + announcing.doWork(nowNs);
  }

  /** Takes a step of the table's growth. */
  private int grow() {
    return writer.growth().doWork(stepNs);
  }

  /** Takes a step of making a file for another region. */
  private int makeFiles() {
    if (!files.making()) {
      return 0;
    }
    int work = files.make();
    if (files.making()) {
      return work;
    }
    // The new file may be for the cleaner.
    if (leases.anyWaits()) {
      files.makeAnother();
    }
    return work + leases.answerWaiting();
  }

  /** Cleans; requests that wait for space are tried again when there may be some. */
  private int cleanAndAnswer() {
    if (failures.any()) {
      // No further cleaning is done, so no request may wait for cleaning.
      cleaner.giveUpAsked();
      return leases.answerWaiting();
    }
    long before = cleaner.cleanings() + cleaner.givenUp();
    int work = failures.step(cleaning);
    boolean news = work == 0 || cleaner.cleanings() + cleaner.givenUp() != before;
    return work + (news ? leases.answerWaiting() : 0);
  }

  private int clean() {
    // A client that sends a request, or connects, waits until these steps are done. A busy server
    // takes only a few; an idle one stops when they have taken long, for example when the store
    // drains to a slow disk.
    boolean busy = requests.areExpected();
    long begunNs = busy ? 0 : nanoTime.getAsLong();
    int steps = busy ? cleaner.pace() : CLEANER_STEPS;
    int work = 0;
    for (int step = 0; step < steps; step++) {
      work = cleaner.doWork(stepNs);
      boolean tookLong = !busy && nanoTime.getAsLong() - begunNs > IDLE_CLEANING_NS_MAX;
      if (work == 0 || !cleaner.working() || tookLong) {
        break;
      }
    }
    return work;
  }

  /** Whether there is work even without requests of clients. */
  public boolean hasMore() {
    return publishing.gathers()
        || files.making()
        || cleaner.atWork()
        || leases.anyWaits()
        || writer.growth().working();
  }

  /**
   * Returns the longest time in nanoseconds that the thread may sleep while no client sends a
   * message; 0 when it must not sleep.
   */
  public long sleepNsMax() {
    if (publishing.gathers()) {
      return 0;
    }
    boolean undecided = writer.announced() != null && writer.announced().undecided() > 0;
    return leases.anyWaits() || undecided ? SLEEP_WAITED_FOR_NS_MAX : SLEEP_NS_MAX;
  }

  /**
   * Prepares to sleep. Returns false when there may be work already. After true, sleep on the
   * device, then call {@link #doWork()}.
   */
  public boolean arm() {
    nextAcceptNs = Long.MIN_VALUE;
    return connections.arm();
  }

  /** Ends the leases and requests of a client whose connection ends. */
  private void leaving(Connection connection) {
    // A failed store ends no extents, so their publications must be finished here.
    publishing.finish(connection);
    announcing.gone(connection);
    leases.leave(connection);
    commits.leave(connection);
    files.departures().gone(connection.clientId);
  }

  /** Notes that a client is gone, and decides its announcements. */
  private void left(Connection connection) {
    told.left(connection.clientId, connection.queuePair.peer(), connection.misbehaved());
    if (writer.announced() != null && !failures.any() && !engine.closed()) {
      failures.attempt(() -> writer.announced().left(connection));
    }
  }

  /**
   * Closes the store, and leaves the connections as the end of the process would leave them. If the
   * device allows it, clients go on reading.
   */
  public void leave() {
    try {
      publishing.finish();
    } finally {
      commits.close(true);
      files.close();
      writer.close();
    }
  }

  /**
   * Releases the resources of a server whose process counts as ended. Work that was under way does
   * not go on.
   */
  public void abandon() {
    publishing.forget();
    close();
  }

  /**
   * Ends the server after an unknown error cut a step short. Work under way is dropped, and closing
   * stores nothing. The next opening recovers as after a kill, which may also happen in the middle
   * of any step.
   */
  public void breakOff() {
    engine.abandon();
    publishing.forget();
  }

  /** Ends every connection, then closes the store. */
  @Override
  public void close() {
    try {
      publishing.finish();
    } finally {
      connections.closeAll();
      ports.close();
      commits.close(true);
      files.close();
      writer.close();
    }
  }
}
