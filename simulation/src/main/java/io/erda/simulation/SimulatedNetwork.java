package io.erda.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * The wire between simulated NICs: every node has one {@link SimulatedDevice}. One thread;
 * everything that happens on its own happens in events of the {@link VirtualTime}.
 *
 * <p>Of every pair of queue pairs, requests arrive in the order they were posted. A WRITE's pieces
 * land at different times; a READ's are fetched at different times, after all WRITEs before it have
 * landed and all READs before it have ended; a message is delivered after all WRITEs before it have
 * landed. What is not promised does happen: a WRITE or SEND overtakes an earlier READ, two WRITEs
 * to different places land interleaved, a WRITE completes before it is visible, local memory is
 * read at the last moment.
 */
public final class SimulatedNetwork {
  final Hops hops;
  final RemoteKeys keys = new RemoteKeys();
  final LateStores lateStores = new LateStores();

  private final Map<String, SimulatedListener> listeners = new HashMap<>();
  private final List<SimulatedQueuePair> connected = new ArrayList<>();

  /** Ends whose responder died and that nobody has fenced: they may begin to store. */
  private final List<SimulatedQueuePair> unfenced = new ArrayList<>();

  private boolean storesUntilFenced;

  public SimulatedNetwork(VirtualTime time, RandomGenerator random, NetworkModel model) {
    hops = new Hops(time, random, model);
  }

  /**
   * A new node's NIC.
   *
   * @param name who it is, for messages
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

  /** Connections that have two ends. */
  public int connections() {
    return connected.size();
  }

  /**
   * One connection by the seed is lost: what is on the way arrives as far as the seed says, and the
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
    return listeners.putIfAbsent(listener.address(), listener) == null;
  }

  void unlisten(SimulatedListener listener) {
    listeners.remove(listener.address(), listener);
  }

  SimulatedListener listener(String address) {
    return listeners.get(address);
  }

  /**
   * From now on, where READs outlive the peer, so do WRITEs: an end whose responder died begins
   * further ones, until it notices or {@link SimulatedDevice#fence} ends that.
   */
  public void storesUntilFenced() {
    storesUntilFenced = true;
    lateStores.often();
  }

  /** WRITEs that landed, or went on, after the responder's process had died. */
  public long unfencedStores() {
    return lateStores.unfenced();
  }

  /** An end's responder died: returns whether it goes on storing. */
  boolean unfenced(SimulatedQueuePair end) {
    if (storesUntilFenced) {
      unfenced.add(end);
    }
    return storesUntilFenced;
  }

  /** Nobody begins to store into the memory of responders that died. */
  void fence() {
    unfenced.forEach(SimulatedQueuePair::fence);
    unfenced.clear();
  }

  /**
   * What a host knew of the keys that it gave out is lost with its power: they are given out once
   * more. Nobody else gives out any. Returns whether there were any.
   */
  public boolean forgetKeys() {
    return keys.forget();
  }

  /** The power of a host with these disks fails: who stores there is gone too. */
  void stopStrangers(List<SimulatedDisk> disks) {
    unfenced.forEach(SimulatedQueuePair::fail);
    unfenced.clear();
    lateStores.stop(disks);
  }
}
