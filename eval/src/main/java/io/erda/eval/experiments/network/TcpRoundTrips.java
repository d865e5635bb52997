package io.erda.eval.experiments.network;

import io.erda.client.ClientStatistics;
import io.erda.client.ErdaClient;
import io.erda.eval.report.StatsFigures;
import io.erda.hashtable.Neighbourhood;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.Message;
import io.erda.protocol.Root;
import java.util.Map;

/**
 * The messages of gets over TCP, as counted by client and server: a round trip for the
 * neighbourhood with the root, and one for the object; or one for all of them, when the client
 * knows the key. Lengths in bytes, with the frames' headers (rdma/FORMAT-tcp.md).
 *
 * @param perGet round trips
 * @param readsPerGet READs
 * @param objectBytes that the READ of an object fetches
 */
record TcpRoundTrips(double perGet, double readsPerGet, int objectBytes) {
  private static final int HEADER = 32;
  private static final int READ_REQUEST = HEADER + 24;
  private static final int WRITE_HEADER = 24;

  int lookUpRequest() {
    return 2 * READ_REQUEST;
  }

  int lookUpAnswer() {
    return 2 * HEADER + Neighbourhood.BYTES + Root.LOOK_UP_BYTES;
  }

  int objectRequest() {
    return READ_REQUEST;
  }

  int objectAnswer() {
    return HEADER + objectBytes;
  }

  /** The bytes of a put's WRITE, and of the message behind it, which are sent together. */
  static int putRequest(int keyBytes, int valueBytes) {
    int object = ObjectLayout.padded(ObjectLayout.bytes(keyBytes, valueBytes));
    return HEADER + WRITE_HEADER + object + HEADER + Message.PUBLISH_REQUEST_BYTES;
  }

  static int putAnswer() {
    return HEADER + Message.PUBLISH_RESPONSE_BYTES;
  }

  /** Counts while {@code gets} runs. No other client may read during that time. */
  static TcpRoundTrips count(ErdaClient client, Runnable gets) {
    ClientStatistics before = client.statistics();
    Map<String, Long> serverBefore = client.stats();
    gets.run();
    Map<String, Long> serverAfter = client.stats();
    ClientStatistics after = client.statistics();
    double done = after.gets() - before.gets();
    long lookUps = after.lookUps() - before.lookUps();
    long behind =
        after.objectReads() - before.objectReads() + after.secondReads() - before.secondReads();
    long objects = behind + after.guesses() - before.guesses();
    long bytes = difference("clients.bytes.read", serverBefore, serverAfter);
    long objectBytes = bytes - lookUps * (Neighbourhood.BYTES + Root.LOOK_UP_BYTES);
    return new TcpRoundTrips(
        (lookUps + behind) / done,
        difference("clients.reads", serverBefore, serverAfter) / done,
        Math.toIntExact(Math.round(objectBytes / (double) objects)));
  }

  private static long difference(String name, Map<String, Long> before, Map<String, Long> after) {
    return StatsFigures.figure(after, name) - StatsFigures.figure(before, name);
  }
}
