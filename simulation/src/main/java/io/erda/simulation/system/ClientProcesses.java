package io.erda.simulation.system;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** The clients that live, those that take the place of the dead, and peers that send garbage. */
final class ClientProcesses {
  private static final int SENDERS_MAX = 32;

  private final World world;
  private final BooleanSupplier serves;
  private final List<ClientProcess> living = new ArrayList<>();
  private final List<GarbageSender> connectedSenders = new ArrayList<>();
  private int senders;
  private int nextClient = 1;

  /**
   * @param serves whether there is a server that lives
   */
  ClientProcesses(World world, BooleanSupplier serves) {
    this.world = world;
    this.serves = serves;
  }

  /** Those that live, as they are now. */
  List<ClientProcess> living() {
    return List.copyOf(living);
  }

  boolean isEmpty() {
    return living.isEmpty();
  }

  ClientProcess any() {
    return living.get(world.random.nextInt(living.size()));
  }

  boolean anyWrites() {
    return living.stream().anyMatch(client -> !client.readsOnly);
  }

  /** Whether any of them waits for the end of an operation. */
  boolean busy() {
    return living.stream().anyMatch(client -> client.open > 0);
  }

  String openOperations() {
    StringBuilder text = new StringBuilder();
    living.stream()
        .filter(client -> client.open > 0)
        .forEach(client ->
            text.append("client ")
                .append(client.number)
                .append(": ")
                .append(client.open)
                .append("; "));
    return text.toString();
  }

  ClientProcess start() {
    ClientProcess client = new ClientProcess(world, this, nextClient++);
    living.add(client);
    return client;
  }

  void crashAny() {
    if (!living.isEmpty()) {
      world.happened(Fault.CLIENT_CRASH);
      any().crash();
    }
  }

  void crashAll() {
    living().forEach(ClientProcess::crash);
  }

  /** A client's process ended inside a post. */
  void crashed(String place) {
    world.crashed(place, !serves.getAsBoolean());
  }

  /** A client's process has ended: another one takes its place. */
  void gone(ClientProcess client) {
    living.remove(client);
    if (!world.healing) {
      world.time.after(world.random.nextLong(1L << world.random.nextInt(8, 22)), this::start);
    }
  }

  /** Whether a peer that sends garbage still has its connection. */
  boolean garbageConnected() {
    return !connectedSenders.isEmpty();
  }

  /** One at a time: they must not take the connections of those that have something to say. */
  void startGarbageSender() {
    if (!connectedSenders.isEmpty() || senders == SENDERS_MAX) {
      return;
    }
    senders++;
    world.happened(Fault.CLIENT_GARBAGE);
    GarbageSender sender =
        new GarbageSender(
            world.network.device("sender of garbage " + nextClient++),
            World.ADDRESS,
            world.random.split());
    connectedSenders.add(sender);
    world.onEnd(sender::close);
    Node node =
        new Node(
            world.time,
            world.random.split(),
            () -> world.guarded("the sender of garbage", sender::doWork),
            crash -> {},
            world.configuration.stepNs(),
            world.configuration.idleNs());
    sender.device.onActivity(node::wake);
    sender.onEnd(() -> {
      node.kill();
      connectedSenders.remove(sender);
    });
  }
}
