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
 * Makes the devices of one URI scheme. Found by {@link java.util.ServiceLoader}, so that a device
 * of another module needs no line in client or server.
 */
public interface DeviceProvider {
  /** The text before the first colon of its URIs. */
  String scheme();

  /**
   * A device for a client. The caller owns it.
   *
   * @throws IOException when it can't be opened; the message is for a user
   * @throws IllegalArgumentException when it does not know a parameter
   */
  Device connecting(Settings settings) throws IOException;

  /**
   * A device for a server. The caller owns it.
   *
   * @throws IOException when it can't be opened; the message is for a user
   * @throws IllegalArgumentException when it does not know a parameter
   */
  Device serving(Settings settings) throws IOException;

  /** The provider of a scheme, of those that this build has. */
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
   * Hosts by which processes of this machine can reach a server here, as numbers in the form of a
   * URI (IPv6 in brackets). The first one belongs to the default device. Empty where there are
   * none, and where addresses have no hosts.
   *
   * @throws IOException when this machine can't be asked
   */
  default List<String> hosts() throws IOException {
    return List.of();
  }

  /**
   * The arguments that a device is opened with.
   *
   * @param parameters of the URI, by name
   * @param nanoTime a monotonic clock
   * @param random gives an unpredictable generator; called only where one is needed
   * @param counted whether WRITEs are compared with the bytes that they replace
   * @param extraWriteLatencyNs how much longer each WRITE takes
   */
  record Settings(
      Map<String, String> parameters,
      LongSupplier nanoTime,
      Supplier<RandomGenerator> random,
      boolean counted,
      long extraWriteLatencyNs) {
    /** For a client. */
    public static Settings of(
        Map<String, String> parameters, LongSupplier nanoTime, Supplier<RandomGenerator> random) {
      return new Settings(parameters, nanoTime, random, false, 0);
    }

    /**
     * Requires that all parameters are among those a device knows.
     *
     * @throws IllegalArgumentException that names one that is not
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
