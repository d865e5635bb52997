package io.erda.server.engine;

import io.erda.protocol.Handshake;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.protocol.WelcomeBuilder;
import io.erda.rdma.ConnectionRequest;
import java.lang.foreign.MemorySegment;

/** Decides who may connect, and tells them what store this is. One thread. */
final class Admission {
  private final StoreEngine engine;
  private final ServiceOptions options;
  private final Ports ports;
  private final Connections connections;
  private final Connection.Requests requests;
  private final MessageBuffers buffers = new MessageBuffers(Connection.BUFFER_BYTES);
  private int nextClientId = 1;
  private long refused;

  /**
   * @param requests handles what those send who are admitted
   */
  Admission(
      StoreEngine engine,
      ServiceOptions options,
      Ports ports,
      Connections connections,
      Connection.Requests requests) {
    this.engine = engine;
    this.options = options;
    this.ports = ports;
    this.connections = connections;
    this.requests = requests;
  }

  /** Connections that were refused. */
  long refused() {
    return refused;
  }

  /** Decides about all who ask. Returns how many those were. */
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
    Handshake.Refusal refusal = refusal(request.privateData(), request.user());
    if (refusal != null) {
      refused++;
      request.reject(Handshake.encode(refusal));
      return;
    }
    int clientId = nextClientId++;
    int connectionEpoch = (int) engine.root().incarnation();
    Handshake.Welcome welcome =
        new WelcomeBuilder()
            .store(engine.storeId())
            .incarnation(engine.root().incarnation())
            .rootKey(port.root.remoteKey())
            .hashSeed(engine.superblock().hashSeed())
            .regionBytes(engine.superblock().geometry().regionBytes())
            .segmentBytes(engine.superblock().geometry().segmentBytes())
            .heads(engine.superblock().geometry().heads())
            .promise(engine.promise())
            .putMode(engine.putMode().code())
            .clientId(clientId)
            .connectionEpoch(connectionEpoch)
            .keyBytesMax(engine.keyBytesMax())
            .valueBytesMax(engine.valueBytesMax())
            .messageBytesMax(Protocol.MESSAGE_BYTES_MAX)
            .pollingNs(options.pollingNs())
            .build();
    connections.add(
        new Connection(
            requests,
            port,
            request.accept(Handshake.encode(welcome)),
            clientId,
            connectionEpoch,
            Handshake.decodeHello(request.privateData()).processId(),
            request.user(),
            engine.superblock().geometry().heads(),
            buffers));
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
    if (user != null && hasItsShare(user) && !(connections.closeWhoLeft() && !hasItsShare(user))) {
      SpaceRefusals.record("CONNECTIONS", 0, -1, 0);
      return new Handshake.Refusal(
          Handshake.Refusal.CONNECTIONS,
          "user %s has all %d connections that a user other than the server's may have"
              .formatted(user, options.connectionsPerUser()));
    }
    return null;
  }

  private boolean hasItsShare(String user) {
    return connections.of(user) >= options.connectionsPerUser();
  }
}
