package io.erda.client;

import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import java.time.Duration;

/**
 * How a client behaves. Immutable; begin with {@link #DEFAULT} and change what must differ.
 *
 * @param connectTimeout how long connecting may take, until the connection can take the first
 *     operation
 * @param operationTimeout how long one get, put or delete may take, reconnecting included
 * @param required the weakest promise that the client accepts of a store; null for any
 * @param pollingNs how long a blocking call polls before it sleeps; {@link #SERVER_HINT} for the
 *     time that the server recommends, 0 to sleep at once
 * @param readBytes how many bytes of an object the first READ fetches at the beginning, 64 … 1 MiB;
 *     later the client adapts it to the sizes of the objects that it reads
 * @param pipelineDepth how many gets, and as many puts and deletes, an asynchronous client has in
 *     flight at most, 1 … 64
 */
public record ClientOptions(
    Duration connectTimeout,
    Duration operationTimeout,
    Promise required,
    long pollingNs,
    int readBytes,
    int pipelineDepth) {
  /** A value of {@link #pollingNs}: poll for as long as the server recommends. */
  public static final long SERVER_HINT = -1;

  /** The largest {@link #pipelineDepth}. */
  public static final int PIPELINE_DEPTH_MAX = 64;

  private static final Duration TIMEOUT_MAX = Duration.ofDays(1);
  private static final int READ_BYTES_MIN = 64;
  private static final int READ_BYTES_MAX = 1 << 20;

  public static final ClientOptions DEFAULT =
      new ClientOptions(Duration.ofSeconds(5), Duration.ofSeconds(10), null, SERVER_HINT, 1280, 32);

  /**
   * @throws ErdaException.BadArgument when a number is out of its range
   */
  public ClientOptions {
    requireTimeout("connect timeout", connectTimeout);
    requireTimeout("operation timeout", operationTimeout);
    if (pollingNs < SERVER_HINT || pollingNs > TIMEOUT_MAX.toNanos()) {
      throw new ErdaException.BadArgument(
          "polling budget of "
              + pollingNs
              + " ns; expected 0 or more, or -1 for the server's hint");
    }
    if (readBytes < READ_BYTES_MIN || readBytes > READ_BYTES_MAX) {
      throw new ErdaException.BadArgument(
          "read size of "
              + readBytes
              + " bytes; expected "
              + READ_BYTES_MIN
              + " to "
              + READ_BYTES_MAX);
    }
    if (pipelineDepth < 1 || pipelineDepth > PIPELINE_DEPTH_MAX) {
      throw new ErdaException.BadArgument(
          "pipeline depth of " + pipelineDepth + "; expected 1 to " + PIPELINE_DEPTH_MAX);
    }
  }

  public ClientOptions withConnectTimeout(Duration timeout) {
    return new ClientOptions(
        timeout, operationTimeout, required, pollingNs, readBytes, pipelineDepth);
  }

  public ClientOptions withOperationTimeout(Duration timeout) {
    return new ClientOptions(
        connectTimeout, timeout, required, pollingNs, readBytes, pipelineDepth);
  }

  public ClientOptions withRequired(Promise promise) {
    return new ClientOptions(
        connectTimeout, operationTimeout, promise, pollingNs, readBytes, pipelineDepth);
  }

  public ClientOptions withPollingNs(long ns) {
    return new ClientOptions(
        connectTimeout, operationTimeout, required, ns, readBytes, pipelineDepth);
  }

  public ClientOptions withReadBytes(int bytes) {
    return new ClientOptions(
        connectTimeout, operationTimeout, required, pollingNs, bytes, pipelineDepth);
  }

  public ClientOptions withPipelineDepth(int depth) {
    return new ClientOptions(
        connectTimeout, operationTimeout, required, pollingNs, readBytes, depth);
  }

  private static void requireTimeout(String what, Duration timeout) {
    if (timeout == null
        || timeout.isNegative()
        || timeout.isZero()
        || timeout.compareTo(TIMEOUT_MAX) > 0) {
      throw new ErdaException.BadArgument(
          what + " of " + timeout + "; expected more than zero, at most a day");
    }
  }
}
