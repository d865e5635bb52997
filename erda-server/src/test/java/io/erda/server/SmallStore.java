package io.erda.server;

/** A store for tests that need room for some thousand objects, and no more. */
final class SmallStore {
  static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(1 << 22)
          .withSegmentBytes(1 << 20)
          .withCapacityBytes(1 << 26)
          .withBuckets(1 << 12);

  private SmallStore() {}
}
