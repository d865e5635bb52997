package io.erda.simulation.system;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** The clients that live, those that take the place of the dead, and peers that send garbage. */
final class ClientProcesses {
  private static final int SENDERS_MAX = 32;

  /** One in so many clients is stopped when its server dies. */
  private static final int LEFT_ODDS = 3;

  private final World world;
  private final BooleanSupplier serves;
  private final List<ClientProcess> living = new ArrayList<>();

  /** Those that live in the process that serves. */
  private final List<ClientProcess> inside = new ArrayList<>();

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
    return open().findAny().isPresent();
  }

  String openOperations() {
    StringBuilder text = new StringBuilder();
    open()
        .forEach(client ->
            text.append("client ")
                .append(client.number)
                .append(": ")
                .append(client.open)
                .append("; "));
    return text.toString();
  }

  private Stream<ClientProcess> open() {
    return Stream.concat(living.stream(), inside.stream()).filter(ClientProcess::isBusy);
  }

  ClientProcess start() {
    ClientProcess client = new ClientProcess(world, this, nextClient++, World.ADDRESS, false);
    living.add(client);
    return client;
  }

  /** Clients of the process that serves at an address nobody else knows. */
  void startInside(String address, int count) {
    for (int i = 0; i < count; i++) {
      inside.add(new ClientProcess(world, this, nextClient++, address, true));
    }
  }

  /** That process has ended. */
  void endInside() {
    inside.forEach(ClientProcess::vanish);
    inside.clear();
  }

  /**
   * The server is gone. Some are stopped just then, and go on when another process has the store.
   */
  void leftBehind() {
    if (world.mayHappen(Fault.STORE_OF_THE_LEFT) && world.network.model().readsOutlivePeer()) {
      for (ClientProcess client : living) {
        if (world.doors.nextInt(LEFT_ODDS) == 0) {
          client.node.pause(world.doors.nextLong(1L << world.doors.nextInt(16, 28)));
        }
      }
    }
  }

  void closeAny() {
    if (!living.isEmpty()) {
      any().closeSoon();
    }
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
    if (living.remove(client) && !world.healing) {
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
