package io.erda.rdma;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Makes the devices of one URI scheme. It is found by {@link java.util.ServiceLoader}, so that a
 * device in another module needs no change of client or server.
 */
public interface DeviceProvider {
  /** The text before the first colon of its URIs. */
  String scheme();

  /**
   * Opens a device for a client. The caller owns it.
   *
   * @throws IOException when the device can't be opened; the message is for a user
   * @throws IllegalArgumentException when the device does not know a parameter
   */
  Device connecting(Settings settings) throws IOException;

  /**
   * Opens a device for a server. The caller owns it.
   *
   * @throws IOException when the device can't be opened; the message is for a user
   * @throws IllegalArgumentException when the device does not know a parameter
   */
  Device serving(Settings settings) throws IOException;

  /** Returns the provider of a scheme, if this build has one. */
  static Optional<DeviceProvider> of(String scheme) {
    for (DeviceProvider each :
        ServiceLoader.load(DeviceProvider.class, DeviceProvider.class.getClassLoader())) {
      if (each.scheme().equals(scheme)) {
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

  /**
   * Returns the hosts by which processes of this machine can reach a server on this machine, as
   * numeric addresses in the form of a URI (IPv6 in brackets). The first host belongs to the
   * default device. Empty when there are none, and for a device whose addresses have no hosts.
   *
   * @throws IOException when the addresses of this machine can't be determined
   */
  default List<String> hosts() throws IOException {
    return List.of();
  }

  /**
   * The arguments that a device is opened with.
   *
   * @param parameters the parameters of the URI, by name
   * @param nanoTime a monotonic clock
   * @param random returns an unpredictable generator; called only when one is needed
   * @param counted whether WRITEs are compared with the bytes that they replace
   * @param extraWriteLatencyNs the nanoseconds by which each WRITE is delayed
   */
  record Settings(
      Map<String, String> parameters,
      LongSupplier nanoTime,
      Supplier<RandomGenerator> random,
      boolean counted,
      long extraWriteLatencyNs) {
    /** The settings of a client's device. */
    public static Settings of(
        Map<String, String> parameters, LongSupplier nanoTime, Supplier<RandomGenerator> random) {
      return new Settings(parameters, nanoTime, random, false, 0);
    }

    /**
     * Requires that all parameters are among those a device knows.
     *
     * @throws IllegalArgumentException when there is another parameter; the message names it
     */
    public void requireAmong(String... known) {
      for (String name : parameters.keySet()) {
        if (!List.of(known).contains(name)) {
          throw new IllegalArgumentException(
              "unknown parameter '"
                  + name
                  + "'"
                  + (known.length == 0
                      ? "; there are none"
                      : "; there are " + String.join(", ", known)));
        }
      }
    }
  }
}
