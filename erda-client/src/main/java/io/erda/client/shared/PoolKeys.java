package io.erda.client.shared;

import io.erda.client.iteration.ScanOrder;
import io.erda.protocol.ErdaException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Queue;

/**
 * An iteration over keys that goes from client to client: one is borrowed for each stretch of
 * {@link ScanOrder}, which is all that stays of the iteration between two of them.
 */
public final class PoolKeys implements Iterator<byte[]> {
  /** Reads one stretch of the store's keys. */
  public interface Stretches {
    /**
     * Reads the next stretch.
     *
     * @param order as the stretch before left it; null before the first
     * @param keys where the keys of the stretch go
     * @param damaged where what could not be read of it goes
     * @return where the next stretch begins
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

  /**
   * Reads a stretch. Where that fails, what was read of it is forgotten, and it is read again
   * whole.
   */
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
