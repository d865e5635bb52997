package io.erda.simulation.system;

import io.erda.simulation.SimulatedCrash;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The living clients, those that replace dead ones, and peers that send garbage. */
final class ClientProcesses {
  private static final int SENDERS_MAX = 32;

  /** One in so many clients is stopped when its server dies. */
  private static final int LEFT_ODDS = 3;

  private final World world;
  private final BooleanSupplier serves;
  private final List<ClientProcess> living = new ArrayList<>();

  /** Clients that live in the server's process. */
  private final List<ClientProcess> inside = new ArrayList<>();

  private final List<GarbageSender> connectedSenders = new ArrayList<>();
  private int senders;
  private int nextClient = 1;

  /**
   * @param serves whether there is a living server
   */
  ClientProcesses(World world, BooleanSupplier serves) {
    this.world = world;
    this.serves = serves;
  }

  /** A copy of the list of living clients. */
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
    ClientProcess client = new ClientProcess(world, this, nextClient++, World.ADDRESS, null);
    living.add(client);
    return client;
  }

  /**
   * Starts clients in the server's process, at an address that no other client uses.
   *
   * @param onCrash called when the process ends within a step of one of them
   */
  void startInside(String address, int count, Consumer<SimulatedCrash> onCrash) {
    for (int i = 0; i < count; i++) {
      inside.add(new ClientProcess(world, this, nextClient++, address, onCrash));
    }
  }

  /** Ends the clients of that process. */
  void endInside() {
    inside.forEach(ClientProcess::vanish);
    inside.clear();
  }

  /**
   * Handles the death of the server. Some clients are stopped at that moment, and go on when
   * another process has the store.
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

  /** Handles the end of a client's process inside a post. */
  void crashed(String place) {
    world.crashed(place, !serves.getAsBoolean());
  }

  /** Replaces a client whose process has ended. */
  void gone(ClientProcess client) {
    if (living.remove(client) && !world.healing) {
      world.time.after(world.random.nextLong(1L << world.random.nextInt(8, 22)), this::start);
    }
  }

  /** Whether a peer that sends garbage still has its connection. */
  boolean garbageConnected() {
    return !connectedSenders.isEmpty();
  }

  /** Starts a sender of garbage, one at a time so that it does not take clients' connections. */
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
            null,
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
