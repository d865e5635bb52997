package io.erda.eval.peers.store;

/** Stores nothing, and finds every object: it measures the cost of the harness. */
public final class NothingStore extends SegmentStore {
  private final PeerPlace place;

  public NothingStore(PeerPlace place) {
    super(place.valueBytes());
    this.place = place;
  }

  @Override
  public PeerStore another() {
    return new NothingStore(place);
  }

  @Override
  public void put() {}

  /** Values begin with the second half of their key. */
  @Override
  public int get() {
    got().putLong(0, key().getLong(Long.BYTES));
    return place.valueBytes();
  }

  @Override
  public String durability() {
    return NO_DURABILITY;
  }

  @Override
  public void close() {}
}
