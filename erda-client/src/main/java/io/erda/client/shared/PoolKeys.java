package io.erda.client.shared;

import io.erda.client.iteration.ScanOrder;
import io.erda.protocol.ErdaException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Queue;

/**
 * An iteration over keys that borrows a client for each stretch of {@link ScanOrder}. Between two
 * stretches only the order is kept.
 */
public final class PoolKeys implements Iterator<byte[]> {
  /** Reads one stretch of the store's keys. */
  public interface Stretches {
    /**
     * Reads the next stretch.
     *
     * @param order as the previous stretch left it; null before the first
     * @param keys receives the keys of the stretch
     * @param damaged receives an exception for each damaged object
     * @return the order, at the next stretch
     */
    ScanOrder read(ScanOrder order, Queue<byte[]> keys, Queue<ErdaException.Damaged> damaged);
  }

  private final Stretches stretches;

  /** Null before the first stretch. */
  private ScanOrder order;

  private final Queue<byte[]> keys = new ArrayDeque<>();
  private final Queue<ErdaException.Damaged> damaged = new ArrayDeque<>();

  public PoolKeys(Stretches stretches) {
    this.stretches = stretches;
  }

  @Override
  public boolean hasNext() {
    while (keys.isEmpty()) {
      ErdaException.Damaged lost = damaged.poll();
      if (lost != null) {
        throw lost;
      }
      if (order != null && order.isAtEnd()) {
        return false;
      }
      takeStretch();
    }
    return true;
  }

  /** Reads a stretch. After a failure its keys are dropped, and the whole stretch is read again. */
  private void takeStretch() {
    boolean taken = false;
    try {
      order = stretches.read(order, keys, damaged);
      taken = true;
    } finally {
      if (!taken) {
        keys.clear();
        damaged.clear();
      }
    }
  }

  @Override
  public byte[] next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return keys.remove();
  }
}
