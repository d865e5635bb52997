package io.erda.eval.process;

import io.erda.rdma.Device;
import io.erda.rdma.DeviceProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/** How processes reach a server of this machine: what {@code --device} names. */
public enum Transport {
  /** Shared memory. */
  SHM("erda+shm", ""),

  /** TCP on loopback. */
  TCP("erda", "--listen"),

  /** Verbs, at an address of this machine's own RDMA device. */
  RDMA("erda+rdma", "--rdma");

  private final String scheme;
  private final String option;

  Transport(String scheme, String option) {
    this.scheme = scheme;
    this.option = option;
  }

  /**
   * Returns the one that is called so.
   *
   * @throws IllegalArgumentException when none is; it says which there are
   */
  public static Transport of(String name) {
    for (Transport each : values()) {
      if (each.toString().equals(name)) {
        return each;
      }
    }
    throw new IllegalArgumentException(
        "no device '"
            + name
            + "'; there are "
            + Arrays.stream(values()).map(Transport::toString).collect(Collectors.joining(", ")));
  }

  /** The transport of a server that was given these options. */
  static Transport ofServer(List<String> options) {
    return options.contains(TCP.option) ? TCP : options.contains(RDMA.option) ? RDMA : SHM;
  }

  /**
   * Options of a server that is to be reached so: none over shared memory, and an address that
   * nobody has now over a network.
   *
   * @throws ProcessException when this machine has no such address
   */
  public List<String> serverOptions() {
    return this == SHM ? List.of() : List.of(option, newAddress());
  }

  /** What clients of a server connect to that was given these options. */
  String uri(List<String> options, String data) {
    return this == SHM
        ? scheme + ":" + data
        : scheme + "://" + options.get(options.indexOf(option) + 1);
  }

  /** Whether this machine has it. */
  public boolean isHere() {
    return this == SHM || !hosts().isEmpty();
  }

  /**
   * An address of a network that nobody has now.
   *
   * @throws ProcessException when this machine has none
   */
  public String newAddress() {
    List<String> hosts = hosts();
    if (hosts.isEmpty()) {
      throw new ProcessException(
          "no " + this + " device of this machine has an address (./erda doctor says more)");
    }
    // Ports of RDMA are others than those of TCP; one that is free there is as good as any.
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return hosts.getFirst() + ":" + free.getLocalPort();
    } catch (IOException e) {
      throw new ProcessException("no port of loopback is free: " + e.getMessage(), e);
    }
  }

  private List<String> hosts() {
    try {
      return provider().hosts();
    } catch (IOException e) {
      throw new ProcessException("no address for " + this + ": " + e.getMessage(), e);
    }
  }

  /**
   * Opens a device for a client. The caller owns it.
   *
   * @throws ProcessException when it can't be opened
   */
  public Device openClientDevice() {
    try {
      return provider().connecting(settings());
    } catch (IOException e) {
      throw new ProcessException("can't open a device: " + e.getMessage(), e);
    }
  }

  /** Opens a device for a server; not over shared memory, where it needs the server's directory. */
  public Device openServerDevice() throws IOException {
    return provider().serving(settings());
  }

  private static DeviceProvider.Settings settings() {
    return DeviceProvider.Settings.of(Map.of(), System::nanoTime, SecureRandom::new);
  }

  private DeviceProvider provider() {
    for (DeviceProvider each : ServiceLoader.load(DeviceProvider.class)) {
      if (each.scheme().equals(scheme)) {
        return each;
      }
    }
    throw new ProcessException("this build has no device for " + scheme);
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
