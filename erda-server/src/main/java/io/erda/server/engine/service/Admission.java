package io.erda.server.engine.service;

import io.erda.pmem.Backing;
import io.erda.protocol.Handshake;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.rdma.Access;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import io.erda.server.engine.events.ServiceListener;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreFailures;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Decides which clients may connect, and sends them the welcome. One thread. */
final class Admission {
  /** Reasons of refusals, by {@link Handshake.Refusal#reason()}. */
  private static final String[] REASONS = reasons();

  private final StoreEngine engine;
  private final StoreFailures failures;
  private final ServiceOptions options;
  private final Ports ports;
  private final ClientConnections connections;
  private final RequestDispatch requests;
  private final LeaseGrants leases;
  private final Answers answers;
  private final ServiceListener told;
  private final Consumer<Connection> admitted;
  private final BooleanSupplier crowded;
  private final ClientCommits commits;
  private final MessageBuffers buffers = new MessageBuffers(Connection.BUFFER_BYTES);
  private final long[] refusals = new long[REASONS.length];
  private int nextClientId = 1;
  private long accepted;
  private long refused;
  private long refusedOfUser;

  /**
   * @param requests handles the messages of admitted clients
   * @param leases receives the decisions of puts that admitted clients announced
   * @param answers counts and times the answers
   * @param told receives the clients that are admitted or refused
   * @param admitted receives the connections of admitted clients
   * @param crowded whether there is no memory for another client
   * @param commits receives the clients that may commit by themselves
   */
  Admission(
      StoreEngine engine,
      StoreFailures failures,
      ServiceOptions options,
      Ports ports,
      ClientConnections connections,
      RequestDispatch requests,
      LeaseGrants leases,
      Answers answers,
      ServiceListener told,
      Consumer<Connection> admitted,
      BooleanSupplier crowded,
      ClientCommits commits) {
    this.engine = engine;
    this.failures = failures;
    this.options = options;
    this.ports = ports;
    this.connections = connections;
    this.requests = requests;
    this.leases = leases;
    this.answers = answers;
    this.told = told;
    this.admitted = admitted;
    this.crowded = crowded;
    this.commits = commits;
  }

  private static String[] reasons() {
    String[] reasons = new String[Handshake.Refusal.NOT_ERDA + 1];
    reasons[Handshake.Refusal.VERSION] = "version";
    reasons[Handshake.Refusal.PROMISE] = "promise";
    reasons[Handshake.Refusal.STORE] = "store";
    reasons[Handshake.Refusal.CONNECTIONS] = "full";
    reasons[Handshake.Refusal.NOT_ERDA] = "stranger";
    return reasons;
  }

  /** Adds the numbers of admitted clients, and of refused ones by reason. */
  void addTo(NamedFigures figures) {
    figures.add("connections.max", options::connectionsMax);
    figures.add("connections.accepted", () -> accepted);
    figures.add("connections.refused", () -> refused);
    figures.add("connections.refused.user", () -> refusedOfUser);
    for (int reason = 1; reason < REASONS.length; reason++) {
      int index = reason;
      figures.add("connections.refusals." + REASONS[reason], () -> refusals[index]);
    }
  }

  /** Decides about all waiting clients. Returns how many there were. */
  int doWork() {
    int asked = 0;
    for (Port port : ports.all()) {
      for (ConnectionRequest request = port.listener.poll();
          request != null;
          request = port.listener.poll()) {
        decide(port, request);
        asked++;
      }
    }
    return asked;
  }

  private void decide(Port port, ConnectionRequest request) {
    Handshake.Refusal refusal =
        request.otherVersion() == null
            ? refusal(request.privateData(), request.user())
            : otherVersion(request);
    if (refusal != null) {
      refuse(request, refusal);
      return;
    }
    Long incarnation = failures.result(() -> engine.root().incarnation());
    if (incarnation == null) {
      refuse(
          request,
          new Handshake.Refusal(
              Handshake.Refusal.STORE, "nothing can be read: " + failures.reason()));
      return;
    }
    MemoryRegion memory = memory(port.device);
    if (memory == null) {
      refuse(
          request,
          new Handshake.Refusal(
              Handshake.Refusal.CONNECTIONS, "there is no memory for another connection"));
      return;
    }
    accepted++;
    int clientId = nextClientId++;
    int connectionEpoch = (int) (long) incarnation;
    // Only a process of the server's own user commits by itself.
    int line = port.commitsKey() != 0 && request.user() == null ? commits.take() : -1;
    Handshake.Welcome welcome =
        engine
            .welcome()
            .rootKey(port.root.remoteKey())
            .clientId(clientId)
            .connectionEpoch(connectionEpoch)
            .messageBytesMax(Protocol.MESSAGE_BYTES_MAX)
            .pollingNs(options.pollingNs())
            .requestsMax(options.limits().operationsPerClient())
            .commitsLine(Math.max(0, line))
            .commitsKey(line < 0 ? 0 : port.commitsKey())
            .build();
    long processId = Handshake.decodeHello(request.privateData()).processId();
    told.connected(clientId, request.peer());
    Connection connection =
        new Connection(
            requests,
            leases,
            port,
            request.accept(Handshake.encode(welcome)),
            clientId,
            connectionEpoch,
            processId,
            connections.shares().enter(request.user()),
            options.limits().operationsPerClient(),
            engine.log().geometry().heads(),
            memory,
            buffers,
            answers);
    if (line >= 0) {
      commits.join(line, connection);
    }
    connections.add(connection);
    admitted.accept(connection);
  }

  private void refuse(ConnectionRequest request, Handshake.Refusal refusal) {
    refused++;
    refusals[refusal.reason()]++;
    told.refused(request.peer(), refusal.text());
    request.reject(Handshake.encode(refusal));
  }

  /**
   * Returns memory for the messages of a connection; null when there is none, or the device can
   * register no more.
   */
  private MemoryRegion memory(Device device) {
    MemorySegment taken;
    try {
      taken = buffers.take();
    } catch (OutOfMemoryError e) {
      // The JVM may use no more memory outside of its heap.
      return null;
    }
    try {
      return device.register(taken, Backing.none(taken.byteSize()), Access.LOCAL);
    } catch (IllegalStateException e) {
      buffers.giveBack(taken);
      return null;
    }
  }

  private static Handshake.Refusal otherVersion(ConnectionRequest request) {
    Handshake.Hello hello = Handshake.decodeHello(request.privateData());
    return new Handshake.Refusal(
        Handshake.Refusal.VERSION,
        "client has "
            + request.otherVersion()
            + (hello == null
                ? ""
                : "; protocol version %d, server %d; layout version %d, server %d"
                    .formatted(
                        hello.protocolVersion(),
                        Protocol.VERSION,
                        hello.layoutVersion(),
                        Protocol.LAYOUT_VERSION)));
  }

  private Handshake.Refusal refusal(MemorySegment privateData, String user) {
    Handshake.Hello hello = Handshake.decodeHello(privateData);
    if (hello == null) {
      return new Handshake.Refusal(
          Handshake.Refusal.NOT_ERDA, "this is an Erda server; the peer sent no Erda hello");
    }
    if (hello.protocolVersion() != Protocol.VERSION
        || hello.layoutVersion() != Protocol.LAYOUT_VERSION) {
      return new Handshake.Refusal(
          Handshake.Refusal.VERSION,
          "server speaks protocol version %d, layout version %d; client speaks %d, %d"
              .formatted(
                  Protocol.VERSION,
                  Protocol.LAYOUT_VERSION,
                  hello.protocolVersion(),
                  hello.layoutVersion()));
    }
    if (hello.store() != null && !hello.store().equals(engine.storeId())) {
      return new Handshake.Refusal(
          Handshake.Refusal.STORE,
          "store is " + engine.storeId() + ", client wants " + hello.store());
    }
    Promise promise = engine.promise();
    if (hello.required() != null && hello.required().compareTo(promise) > 0) {
      return new Handshake.Refusal(
          Handshake.Refusal.PROMISE,
          "store promises " + promise + ", client requires " + hello.required());
    }
    if (connections.size() >= options.connectionsMax() && !connections.closeWhoLeft()) {
      SpaceRefusals.record("CONNECTIONS", 0, -1, 0);
      return new Handshake.Refusal(
          Handshake.Refusal.CONNECTIONS,
          "all " + options.connectionsMax() + " connections are taken");
    }
    if (hasItsShare(user) && !(connections.closeWhoLeft() && !hasItsShare(user))) {
      refusedOfUser++;
      SpaceRefusals.record("CONNECTIONS", 0, -1, 0);
      return new Handshake.Refusal(
          Handshake.Refusal.CONNECTIONS,
          "user %s has all %d connections that a user other than the server's may have"
              .formatted(user, options.limits().connectionsPerUser()));
    }
    if (!buffers.hasSpare() && crowded.getAsBoolean()) {
      SpaceRefusals.record("CONNECTIONS", 0, -1, 0);
      return new Handshake.Refusal(
          Handshake.Refusal.CONNECTIONS,
          "the server's JVM has no memory for another client beside "
              + connections.size()
              + ": -XX:MaxDirectMemorySize or -Xmx");
    }
    return null;
  }

  private boolean hasItsShare(String user) {
    return connections.shares().hasAllConnections(user);
  }
}
