package io.erda.cleaner;

import io.erda.logstore.Region;

/** Those who hold space of regions: what the cleaner asks of the server. The server's thread. */
public interface Writers {
  /** Ends every reservation in a region: what was not published there never will be. */
  void end(Region region);
}
