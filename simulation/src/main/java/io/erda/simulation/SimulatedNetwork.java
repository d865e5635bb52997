package io.erda.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * The wire between simulated NICs: every node has one {@link SimulatedDevice}. One thread; all
 * asynchronous work happens in events of the {@link VirtualTime}.
 *
 * <p>Of every pair of queue pairs, requests arrive in the order they were posted. A WRITE's pieces
 * land at different times; a READ's are fetched at different times, after all WRITEs before it have
 * landed and all READs before it have ended; a message is delivered after all WRITEs before it have
 * landed. Permitted reorderings do happen: a WRITE or SEND overtakes an earlier READ, two WRITEs to
 * different places land interleaved, a WRITE completes before it is visible, local memory is read
 * at the last moment.
 */
public final class SimulatedNetwork {
  final Hops hops;
  final RemoteKeys keys = new RemoteKeys();
  final LateStores lateStores = new LateStores();

  private final Map<String, SimulatedListener> listeners = new HashMap<>();
  private final List<SimulatedQueuePair> connected = new ArrayList<>();

  /** Ends whose responder died and was not fenced: they may begin to store. */
  private final List<SimulatedQueuePair> unfenced = new ArrayList<>();

  private boolean storesUntilFenced;

  /** The ends that have accessed memory of their peers by loads and stores. */
  final List<BorrowedMemory> borrowers = new ArrayList<>();

  private boolean lendsMemory;
  private long listens;
  private final long[] reached = new long[8];

  public SimulatedNetwork(VirtualTime time, RandomGenerator random, NetworkModel model) {
    hops = new Hops(time, random, model);
  }

  /**
   * A new node's NIC.
   *
   * @param name its name in messages
   * @param disks the persistent memories that the node's processes map: WRITEs into them land as
   *     the disk's domain says
   */
  public SimulatedDevice device(String name, SimulatedDisk... disks) {
    return new SimulatedDevice(this, name, List.of(disks));
  }

  /** How the NICs behave. */
  public NetworkModel model() {
    return hops.model;
  }

  /** Number of connections that have two ends. */
  public int connections() {
    return connected.size();
  }

  /**
   * Breaks a connection chosen by the seed: a seeded part of the work on the way arrives, and the
   * ends notice at different times. Returns false when there is none.
   */
  public boolean breakConnection(RandomGenerator seeded) {
    if (connected.isEmpty()) {
      return false;
    }
    SimulatedQueuePair end = connected.get(seeded.nextInt(connected.size()));
    end.breakOff();
    return true;
  }

  void connected(SimulatedQueuePair requester) {
    connected.add(requester);
  }

  void disconnected(SimulatedQueuePair end) {
    connected.remove(end);
  }

  boolean listen(SimulatedListener listener) {
    listens++;
    return listeners.putIfAbsent(listener.address(), listener) == null;
  }

  /** How often somebody has begun to listen. */
  long listens() {
    return listens;
  }

  void unlisten(SimulatedListener listener) {
    listeners.remove(listener.address(), listener);
  }

  SimulatedListener listener(String address) {
    return listeners.get(address);
  }

  /**
   * Makes WRITEs outlive the peer if READs do: an end whose responder died begins further WRITEs,
   * until it notices or {@link SimulatedDevice#fence} ends that.
   */
  public void storesUntilFenced() {
    storesUntilFenced = true;
    lateStores.often();
  }

  /**
   * Makes the memory of a peer accessible by loads and stores, as between processes of one host.
   */
  public void lendMemory() {
    lendsMemory = true;
  }

  boolean lendsMemory() {
    return lendsMemory;
  }

  /** Notes that an end has come to a place between two such accesses. */
  void reached(int place) {
    reached[place]++;
  }

  /** How often ends have come to a place between two such accesses. */
  public long timesReached(int place) {
    return reached[place];
  }

  /** Number of ends that may access memory of a peer that has ended the connection, or died. */
  int borrowingStrangers() {
    borrowers.removeIf(BorrowedMemory::isOver);
    int count = 0;
    for (BorrowedMemory each : borrowers) {
      count += each.isStranger() ? 1 : 0;
    }
    return count;
  }

  /** Number of WRITEs that landed, or went on, after the responder's process had died. */
  public long unfencedStores() {
    return lateStores.unfenced();
  }

  /** Notes that an end's responder died. Returns whether the end goes on storing. */
  boolean unfenced(SimulatedQueuePair end) {
    if (storesUntilFenced) {
      unfenced.add(end);
    }
    return storesUntilFenced;
  }

  /** Prevents further stores into the memory of responders that died. */
  void fence() {
    unfenced.forEach(SimulatedQueuePair::fence);
    unfenced.clear();
  }

  /**
   * Loses the host's table of keys with its power: the keys are given out once more. No other host
   * gives out any. Returns whether there were any.
   */
  public boolean forgetKeys() {
    return keys.forget();
  }

  /** Stops the ends that store into these disks, because the power of their common host fails. */
  void stopStrangers(List<SimulatedDisk> disks) {
    unfenced.forEach(SimulatedQueuePair::fail);
    unfenced.clear();
    lateStores.stop(disks);
  }
}
