package io.erda.server;

import java.util.Map;

/**
 * An address at which a store is served beside shared memory.
 *
 * @param scheme of the URIs that clients use: {@code erda} for TCP, {@code erda+rdma} for RDMA
 * @param address HOST:PORT; port 0 takes a free one
 * @param parameters of the device, by name: files for secret and TLS
 */
public record Listening(String scheme, String address, Map<String, String> parameters) {
  public Listening {
    parameters = Map.copyOf(parameters);
  }

  /** Over TCP, without secret and TLS. */
  public static Listening tcp(String address) {
    return new Listening("erda", address, Map.of());
  }
}
