package io.erda.rdma.tcp;

import io.erda.rdma.StackRoom;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;

/** Addresses and options of sockets. */
final class Sockets {
  /**
   * With these keep-alive options an end notices after some 11 s of silence that the other host is
   * gone, even if this end sends nothing.
   */
  private static final int KEEP_IDLE_SECONDS = 5;

  private static final int KEEP_INTERVAL_SECONDS = 2;
  private static final int KEEP_COUNT = 3;
  private static final int PORT_MAX = 65_535;

  private Sockets() {}

  /**
   * Parses an address of the form HOST:PORT; IPv6 addresses are in brackets. Looks up the host, and
   * so may block for as long as the resolver of the system does.
   *
   * @throws IOException when it has not this form, or the host is unknown
   */
  static InetSocketAddress address(String text) throws IOException {
    String host = host(text);
    int port = port(text);
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException e) {
      throw new IOException("no host is known by the name " + host, e);
    }
  }

  /**
   * Returns the host of HOST:PORT, without brackets.
   *
   * @throws IOException when the address has not this form
   */
  static String host(String address) throws IOException {
    String host = address.substring(0, colon(address));
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  /**
   * Returns the port of HOST:PORT.
   *
   * @throws IOException when the address has not this form
   */
  static int port(String address) throws IOException {
    try {
      int port = Integer.parseInt(address.substring(colon(address) + 1));
      if (port >= 0 && port <= PORT_MAX) {
        return port;
      }
    } catch (NumberFormatException e) {
      // It is told below.
    }
    throw new IOException("no port, 0 to 65535, in " + address);
  }

  private static int colon(String address) throws IOException {
    int colon = address.lastIndexOf(':');
    if (colon <= 0 || colon < address.lastIndexOf(']')) {
      throw new IOException("no address of the form HOST:PORT: " + address);
    }
    return colon;
  }

  /**
   * Returns the address that a host without brackets is written as; null when it is a name.
   *
   * @throws IOException when it is neither
   */
  static InetAddress literal(String host) throws IOException {
    try {
      return InetAddress.ofLiteral(host);
    } catch (IllegalArgumentException e) {
      if (host.indexOf(':') >= 0) {
        // For example an IPv6 address with an interface that is not there.
        throw new IOException("no host is known by the name " + host, e);
      }
      return null;
    }
  }

  static String text(InetSocketAddress address) {
    String host = address.getAddress().getHostAddress();
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  static void configure(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    if (channel.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
      channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, KEEP_IDLE_SECONDS);
      channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEP_INTERVAL_SECONDS);
      channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEP_COUNT);
    }
  }

  static void close(Closeable closeable) {
    StackRoom.require(StackRoom.OF_CHANNEL);
    try {
      closeable.close();
    } catch (IOException e) {
      // The error does not matter, because the channel is not used any more.
    }
  }
}
