package io.erda.eval.process;

import io.erda.rdma.Device;
import io.erda.rdma.DeviceProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.security.SecureRandom;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** How processes reach a server on this machine; the values of {@code --device}. */
public enum DeviceChoice {
  /** Shared memory. */
  SHM("erda+shm", ""),

  /** TCP on loopback. */
  TCP("erda", "--listen"),

  /** Verbs, at an address of this machine's own RDMA device. */
  RDMA("erda+rdma", "--rdma");

  private final String scheme;
  private final String option;

  DeviceChoice(String scheme, String option) {
    this.scheme = scheme;
    this.option = option;
  }

  /** The transport of a server with these options. */
  static DeviceChoice ofServer(List<String> options) {
    return options.contains(TCP.option) ? TCP : options.contains(RDMA.option) ? RDMA : SHM;
  }

  /**
   * Options of a server for this transport: none over shared memory, and an unused address over a
   * network.
   *
   * @throws ProcessException when this machine has no such address
   */
  public List<String> serverOptions() {
    return this == SHM ? List.of() : List.of(option, newAddress());
  }

  /** The URI for clients of a server with these options. */
  String uri(List<String> options, String data) {
    return this == SHM
        ? scheme + ":" + data
        : scheme + "://" + options.get(options.indexOf(option) + 1);
  }

  /** Why this machine does not support this transport; empty when it does. */
  public Optional<String> missing() {
    if (this == SHM) {
      return Optional.empty();
    }
    try {
      host();
      openClientDevice().close();
      return Optional.empty();
    } catch (ProcessException e) {
      return Optional.of(e.getMessage());
    }
  }

  /**
   * An address of this machine that is unused now, though another process may take it.
   *
   * @throws ProcessException when this machine has none
   */
  private String newAddress() {
    // RDMA has its own ports. One that is free for TCP is probably free there.
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return host() + ":" + free.getLocalPort();
    } catch (IOException e) {
      throw new ProcessException("no port of loopback is free: " + e.getMessage(), e);
    }
  }

  /**
   * An address for a server that chooses its port.
   *
   * @throws ProcessException when this machine has none
   */
  public String anyPort() {
    return host() + ":0";
  }

  private String host() {
    try {
      List<String> hosts = provider().hosts();
      if (hosts.isEmpty()) {
        throw new ProcessException("no " + this + " device of this machine has an address");
      }
      return hosts.getFirst();
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

  /** Opens a device for a server; not over shared memory, which needs the server's directory. */
  public Device openServerDevice() throws IOException {
    return provider().serving(settings());
  }

  private static DeviceProvider.Settings settings() {
    return DeviceProvider.Settings.of(Map.of(), System::nanoTime, SecureRandom::new);
  }

  private DeviceProvider provider() {
    return DeviceProvider.of(scheme)
        .orElseThrow(() -> new ProcessException("this build has no device for " + scheme));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
