package io.erda.verbs.ffm;

import com.ibm.disni.verbs.RdmaConnParam;

/** Parameters of a connection that DiSNI's own class has and refuses to set. */
public final class ConnectParameters extends RdmaConnParam {
  /**
   * Makes them.
   *
   * @param readsAtOnce how many READs and atomics may be outstanding, in either direction
   * @param retries how often a lost packet is sent again; 7 at most
   * @param retriesUnready how often a message is sent again when the peer has no receive; 7 has no
   *     end
   */
  public ConnectParameters(int readsAtOnce, int retries, int retriesUnready) {
    responder_resources = (byte) readsAtOnce;
    initiator_depth = (byte) readsAtOnce;
    retry_count = (byte) retries;
    rnr_retry_count = (byte) retriesUnready;
  }
}
