package io.erda.simulation;

/**
 * Makes a {@link NetworkModel} by the names of its components. Components that are not set are
 * those of the model that it began with, or 0.
 */
final class NetworkModelBuilder {
  private long postNs;
  private long wireNs;
  private long wireNsPerKib;
  private long landNs;
  private long persistNs;
  private long completionNs;
  private long spreadNs;
  private int piecesMax;
  private int jitterPercent;
  private int slowOdds;
  private int slowFactor;
  private long detectNs;
  private int queueDepth;
  private int receiveDepth;
  private int messageBytesMax;
  private boolean writeCompletesEarly;
  private boolean ddio;
  private boolean readsOutlivePeer;
  private boolean resendsMessages;

  NetworkModelBuilder() {}

  NetworkModelBuilder(NetworkModel other) {
    postNs = other.postNs();
    wireNs = other.wireNs();
    wireNsPerKib = other.wireNsPerKib();
    landNs = other.landNs();
    persistNs = other.persistNs();
    completionNs = other.completionNs();
    spreadNs = other.spreadNs();
    piecesMax = other.piecesMax();
    jitterPercent = other.jitterPercent();
    slowOdds = other.slowOdds();
    slowFactor = other.slowFactor();
    detectNs = other.detectNs();
    queueDepth = other.queueDepth();
    receiveDepth = other.receiveDepth();
    messageBytesMax = other.messageBytesMax();
    writeCompletesEarly = other.writeCompletesEarly();
    ddio = other.ddio();
    readsOutlivePeer = other.readsOutlivePeer();
    resendsMessages = other.resendsMessages();
  }

  NetworkModelBuilder postNs(long value) {
    postNs = value;
    return this;
  }

  NetworkModelBuilder wireNs(long value) {
    wireNs = value;
    return this;
  }

  NetworkModelBuilder wireNsPerKib(long value) {
    wireNsPerKib = value;
    return this;
  }

  NetworkModelBuilder landNs(long value) {
    landNs = value;
    return this;
  }

  NetworkModelBuilder persistNs(long value) {
    persistNs = value;
    return this;
  }

  NetworkModelBuilder completionNs(long value) {
    completionNs = value;
    return this;
  }

  NetworkModelBuilder spreadNs(long value) {
    spreadNs = value;
    return this;
  }

  NetworkModelBuilder piecesMax(int value) {
    piecesMax = value;
    return this;
  }

  NetworkModelBuilder jitterPercent(int value) {
    jitterPercent = value;
    return this;
  }

  NetworkModelBuilder slowOdds(int value) {
    slowOdds = value;
    return this;
  }

  NetworkModelBuilder slowFactor(int value) {
    slowFactor = value;
    return this;
  }

  NetworkModelBuilder detectNs(long value) {
    detectNs = value;
    return this;
  }

  NetworkModelBuilder queueDepth(int value) {
    queueDepth = value;
    return this;
  }

  NetworkModelBuilder receiveDepth(int value) {
    receiveDepth = value;
    return this;
  }

  NetworkModelBuilder messageBytesMax(int value) {
    messageBytesMax = value;
    return this;
  }

  NetworkModelBuilder writeCompletesEarly(boolean value) {
    writeCompletesEarly = value;
    return this;
  }

  NetworkModelBuilder ddio(boolean value) {
    ddio = value;
    return this;
  }

  NetworkModelBuilder readsOutlivePeer(boolean value) {
    readsOutlivePeer = value;
    return this;
  }

  NetworkModelBuilder resendsMessages(boolean value) {
    resendsMessages = value;
    return this;
  }

  NetworkModel build() {
    return new NetworkModel(
        postNs,
        wireNs,
        wireNsPerKib,
        landNs,
        persistNs,
        completionNs,
        spreadNs,
        piecesMax,
        jitterPercent,
        slowOdds,
        slowFactor,
        detectNs,
        queueDepth,
        receiveDepth,
        messageBytesMax,
        writeCompletesEarly,
        ddio,
        readsOutlivePeer,
        resendsMessages);
  }
}
