package io.erda.cleaner;

import io.erda.logstore.Region;

/** Ends what the cleaner must not wait for: the writers of a region. The server's thread. */
public interface Writers {
  /**
   * Ends every reservation in a region: what was not published there never will be. They stay open
   * where what is published there can't be made durable.
   */
  void end(Region region);
}
