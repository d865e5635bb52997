package io.erda.server;

import java.util.Map;

/**
 * An address at which a store is served in addition to shared memory.
 *
 * @param scheme the scheme of the URIs that clients use: {@code erda} for TCP, {@code erda+rdma}
 *     for RDMA
 * @param address HOST:PORT; with port 0 the server takes a free port
 * @param parameters the parameters of the device, by name: files for secret and TLS
 */
public record Listening(String scheme, String address, Map<String, String> parameters) {
  public Listening {
    parameters = Map.copyOf(parameters);
  }

  /** Returns an address for TCP without secret and TLS. */
  public static Listening tcp(String address) {
    return new Listening("erda", address, Map.of());
  }
}
