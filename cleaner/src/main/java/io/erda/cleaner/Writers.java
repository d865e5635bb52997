package io.erda.cleaner;

import io.erda.logstore.Region;

/** Ends leases, because the cleaner must not wait for writers. For the server's thread. */
public interface Writers {
  /**
   * Ends every reservation in a region. Unpublished objects in the region are never published from
   * then on. Reservations whose publications can't be made durable stay open.
   */
  void end(Region region);
}
