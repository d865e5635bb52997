package io.erda.client.connections;

import io.erda.logstore.LogGeometry;
import io.erda.protocol.Commits;
import io.erda.protocol.Handshake.Welcome;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.protocol.PutMode;
import java.util.UUID;

/** Checks a server's welcome before any of its values is used. */
final class WelcomeCheck {
  /** The most regions that a map may name. */
  static final int REGIONS_MAX = 65536;

  /**
   * Returns in words what is impossible in a welcome, or incompatible with this client; null when
   * the welcome is sound.
   *
   * @param said null when the bytes were no welcome
   * @param bytes how many bytes came
   * @param required the weakest promise that is accepted, or null for any
   * @param known the store that the client has used so far, or null
   */
  static String wrong(Welcome said, long bytes, Promise required, UUID known) {
    if (said == null) {
      return "no welcome of protocol version "
          + Protocol.VERSION
          + ", layout version "
          + Protocol.LAYOUT_VERSION
          + ", in "
          + bytes
          + " bytes";
    }
    if (said.store() == null
        || said.incarnation() == 0
        || said.rootKey() == 0
        || said.clientId() == 0) {
      return "a welcome with a zero store, incarnation, root key or client ID: " + said;
    }
    String wrong = wrongSizes(said);
    if (wrong != null) {
      return wrong;
    }
    PutMode mode = PutMode.ofCode(said.putMode());
    if (mode == null) {
      return "put mode "
          + said.putMode()
          + "; this client knows 0, publish last, and 1, announce first";
    }
    if (said.promise().compareTo(mode.promiseMax()) > 0) {
      return "the promise " + said.promise() + ", which put mode " + mode + " can't have";
    }
    if (required != null && said.promise().compareTo(required) < 0) {
      return "the promise " + said.promise() + "; this client requires " + required;
    }
    if (said.commitsLine() < 0 || said.commitsLine() >= Commits.LINES) {
      return "line " + said.commitsLine() + " of commits, expected 0 to " + (Commits.LINES - 1);
    }
    return known != null && !known.equals(said.store())
        ? "another store: " + said.store() + ", was " + known
        : null;
  }

  private static String wrongSizes(Welcome said) {
    boolean geometry =
        Long.bitCount(said.regionBytes()) == 1
            && said.regionBytes() >= 1 << 16
            && said.regionBytes() <= 1L << 30
            && Integer.bitCount(said.segmentBytes()) == 1
            && said.segmentBytes() >= 4096
            && said.segmentBytes() <= Math.min(16 << 20, said.regionBytes());
    if (!geometry) {
      return "a geometry that can't be: regions of "
          + said.regionBytes()
          + " bytes, segments of "
          + said.segmentBytes();
    }
    if (said.heads() < 1 || said.heads() > 256) {
      return "a geometry that can't be: " + said.heads() + " heads, expected 1 to 256";
    }
    boolean limits =
        said.keyBytesMax() >= 1
            && said.keyBytesMax() <= Protocol.KEY_BYTES_MAX
            && said.valueBytesMax() >= 0
            && said.valueBytesMax() < said.segmentBytes()
            && said.requestsMax() >= 0;
    if (!limits) {
      return "limits that can't be: keys of "
          + said.keyBytesMax()
          + " bytes, values of "
          + said.valueBytesMax()
          + ", "
          + said.requestsMax()
          + " requests under way";
    }
    return said.messageBytesMax() < Requests.REQUEST_BYTES
        ? "a limit of "
            + said.messageBytesMax()
            + " bytes a message, expected at least "
            + Requests.REQUEST_BYTES
        : null;
  }

  /** REQUIRES: {@link #wrong} found nothing. */
  static LogGeometry geometry(Welcome said) {
    return new LogGeometry(said.heads(), said.regionBytes(), said.segmentBytes(), REGIONS_MAX);
  }

  private WelcomeCheck() {}
}
