package io.erda.simulation;

import io.erda.pmem.Survives;

/**
 * The part of the way from a store to the medium whose contents survive a power failure (the
 * taxonomy's domains, paper 000), if there is one.
 */
public enum PersistenceDomain {
  /**
   * Files in the page cache: a process crash loses nothing, a power failure may lose any word ever
   * stored.
   */
  PAGE_CACHE(Survives.PROCESS_CRASH, false),
  /** DMP: memory and its controller's queues. A store is lost unless it was flushed and drained. */
  MEMORY_CONTROLLER(Survives.POWER_FAILURE, true),
  /** MHP: caches too. Visible stores are durable. */
  MEMORY_HIERARCHY(Survives.POWER_FAILURE, false),
  /** WSP: the buffers of the NIC too. Bytes that a NIC has received are durable. */
  WHOLE_SYSTEM(Survives.POWER_FAILURE, false);

  private final Survives survives;
  private final boolean visibleBeforeDurable;

  PersistenceDomain(Survives survives, boolean visibleBeforeDurable) {
    this.survives = survives;
    this.visibleBeforeDurable = visibleBeforeDurable;
  }

  /** Which failures drained bytes survive. */
  public Survives survives() {
    return survives;
  }

  /** Whether the failure of {@link #survives()} may still lose a visible store. */
  public boolean visibleBeforeDurable() {
    return visibleBeforeDurable;
  }

  /** Whether a store is durable as soon as it is visible. */
  boolean durableWhenVisible() {
    return survives == Survives.POWER_FAILURE && !visibleBeforeDurable;
  }

  /** Whether draining makes stores durable. */
  boolean drainsToDurable() {
    return survives == Survives.POWER_FAILURE;
  }
}
