package io.erda.verbs;

import io.erda.rdma.Device;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;

/** Reads and writes addresses, and checks private data. */
final class Addresses {
  /**
   * Parses HOST:PORT; without a host it means every address of this machine.
   *
   * @throws IOException when the text is no address; the message is for a user
   */
  static InetSocketAddress parse(String address) throws IOException {
    int colon = address.lastIndexOf(':');
    String host = colon < 0 ? "" : address.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      int port = Integer.parseInt(address.substring(colon + 1));
      InetSocketAddress parsed =
          host.isEmpty() ? new InetSocketAddress(port) : new InetSocketAddress(host, port);
      if (parsed.isUnresolved()) {
        throw new IOException("nobody knows the host " + host);
      }
      return parsed;
    } catch (IllegalArgumentException e) {
      throw new IOException("an address is host:port, and not " + address, e);
    }
  }

  static String format(InetSocketAddress address) {
    String host = address.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  static byte[] privateData(MemorySegment data) {
    if (data.byteSize() > Device.PRIVATE_DATA_MAX) {
      throw new IllegalArgumentException(
          "private data of " + data.byteSize() + " bytes; at most " + Device.PRIVATE_DATA_MAX);
    }
    return data.toArray(ValueLayout.JAVA_BYTE);
  }

  private Addresses() {}
}
