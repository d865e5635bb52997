package io.erda.protocol;

import io.erda.protocol.Handshake.Welcome;
import java.util.UUID;

/**
 * Makes a {@link Welcome} with one method for each component. Components that are not set are 0 or
 * null.
 */
public final class WelcomeBuilder {
  private UUID store;
  private long incarnation;
  private long rootKey;
  private long hashSeed;
  private long regionBytes;
  private int segmentBytes;
  private int heads;
  private Promise promise;
  private int putMode;
  private int clientId;
  private int connectionEpoch;
  private int keyBytesMax;
  private int valueBytesMax;
  private int messageBytesMax;
  private int pollingNs;
  private int requestsMax;
  private int commitsLine;
  private long commitsKey;

  public WelcomeBuilder store(UUID value) {
    store = value;
    return this;
  }

  public WelcomeBuilder incarnation(long value) {
    incarnation = value;
    return this;
  }

  public WelcomeBuilder rootKey(long value) {
    rootKey = value;
    return this;
  }

  public WelcomeBuilder hashSeed(long value) {
    hashSeed = value;
    return this;
  }

  public WelcomeBuilder regionBytes(long value) {
    regionBytes = value;
    return this;
  }

  public WelcomeBuilder segmentBytes(int value) {
    segmentBytes = value;
    return this;
  }

  public WelcomeBuilder heads(int value) {
    heads = value;
    return this;
  }

  public WelcomeBuilder promise(Promise value) {
    promise = value;
    return this;
  }

  public WelcomeBuilder putMode(int value) {
    putMode = value;
    return this;
  }

  public WelcomeBuilder clientId(int value) {
    clientId = value;
    return this;
  }

  public WelcomeBuilder connectionEpoch(int value) {
    connectionEpoch = value;
    return this;
  }

  public WelcomeBuilder keyBytesMax(int value) {
    keyBytesMax = value;
    return this;
  }

  public WelcomeBuilder valueBytesMax(int value) {
    valueBytesMax = value;
    return this;
  }

  public WelcomeBuilder messageBytesMax(int value) {
    messageBytesMax = value;
    return this;
  }

  public WelcomeBuilder pollingNs(int value) {
    pollingNs = value;
    return this;
  }

  public WelcomeBuilder requestsMax(int value) {
    requestsMax = value;
    return this;
  }

  public WelcomeBuilder commitsLine(int value) {
    commitsLine = value;
    return this;
  }

  public WelcomeBuilder commitsKey(long value) {
    commitsKey = value;
    return this;
  }

  public Welcome build() {
    return new Welcome(
        store,
        incarnation,
        rootKey,
        hashSeed,
        regionBytes,
        segmentBytes,
        heads,
        promise,
        putMode,
        clientId,
        connectionEpoch,
        keyBytesMax,
        valueBytesMax,
        messageBytesMax,
        pollingNs,
        requestsMax,
        commitsLine,
        commitsKey);
  }
}
