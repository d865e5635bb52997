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

  private Sockets() {}

  /**
   * Parses an address of the form HOST:PORT; IPv6 addresses are in brackets.
   *
   * @throws IOException when it has not this form, or the host is unknown
   */
  static InetSocketAddress address(String text) throws IOException {
    int colon = text.lastIndexOf(':');
    if (colon <= 0 || colon < text.lastIndexOf(']')) {
      throw new IOException("no address of the form HOST:PORT: " + text);
    }
    String host = text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException e) {
      throw new IOException("no host is known by the name " + host, e);
    } catch (IllegalArgumentException e) {
      throw new IOException("no port, 0 to 65535, in " + text, e);
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
