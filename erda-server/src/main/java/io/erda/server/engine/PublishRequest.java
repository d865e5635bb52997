package io.erda.server.engine;

import io.erda.logstore.Extent;
import io.erda.logstore.Region;

/**
 * One put or delete that waits for publication, and then its outcome. Reused: no allocation per
 * request.
 */
final class PublishRequest {
  /** Null when nobody can leave that asked for it. */
  Requester requester;

  Extent extent;
  long place;
  int offset;
  int bytes;
  boolean delete;

  int result;
  boolean existed;

  long keyWord;
  int keyLength;
  long entry;
  long pendingWord;

  Region region() {
    return extent.region();
  }
}
