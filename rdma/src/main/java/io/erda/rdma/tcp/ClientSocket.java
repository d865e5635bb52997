package io.erda.rdma.tcp;

import io.erda.pmem.FileErrors;
import io.erda.rdma.StackRoom;
import io.erda.rdma.Status;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.List;

/**
 * Connects the socket of a requester. It looks up the host, and tries the host's addresses one
 * after the other until one takes the connection; the time that is left is divided among the
 * addresses that are left. Never blocks. One thread.
 */
final class ClientSocket {
  /** Stands for a status while the socket is not connected yet. */
  static final int UNDECIDED = -1;

  private final TcpClientDevice device;
  private final long deadlineNs;
  private final Runnable wakeup;
  private String host = "";
  private int port;

  /** The lookup that is under way; null when there is none. */
  private HostLookup lookup;

  private List<InetAddress> addresses = List.of();

  /** How many of the addresses were tried. */
  private int tried;

  /** When the next address is tried. */
  private long nextNs;

  private SocketChannel channel;
  private String failure = "";

  /**
   * Begins to connect.
   *
   * @param address HOST:PORT
   * @param deadlineNs when the attempt ends, on the device's clock
   */
  ClientSocket(TcpClientDevice device, String address, long deadlineNs) {
    this.device = device;
    this.deadlineNs = deadlineNs;
    this.wakeup = new Wakeup(device);
    StackRoom.require(StackRoom.OF_CHANNEL);
    try {
      this.host = Sockets.host(address);
      this.port = Sockets.port(address);
      InetAddress literal = Sockets.literal(host);
      if (literal == null) {
        lookUp();
      } else {
        host = literal.getHostAddress();
        addresses = List.of(literal);
        connectNext();
      }
    } catch (IOException e) {
      failure = e.getMessage();
    }
  }

  private void lookUp() {
    try {
      lookup = device.lookups().begin(host, wakeup);
    } catch (OutOfMemoryError e) {
      failure = "the name " + host + " could not be looked up: " + e.getMessage();
    }
  }

  /** Ends the sleep of the thread that polls a device. */
  private record Wakeup(TcpClientDevice device) implements Runnable {
    @Override
    public void run() {
      device.wakeup();
    }
  }

  /**
   * Goes on. Returns {@link Status#SUCCESS} when the socket is connected, {@link
   * Status#UNREACHABLE} when no address takes the connection, and otherwise {@link #UNDECIDED}.
   */
  int advance() {
    StackRoom.require(StackRoom.OF_CHANNEL);
    if (lookup != null) {
      if (!lookup.isOver()) {
        return UNDECIDED;
      }
      addresses = lookup.addresses();
      failure = lookup.failure();
      lookup = null;
      connectNext();
    }
    while (channel != null) {
      try {
        if (channel.finishConnect()) {
          return Status.SUCCESS;
        }
        if (tried == addresses.size() || device.nowNs() - nextNs < 0) {
          return UNDECIDED;
        }
      } catch (IOException e) {
        // The host's next address may take the connection.
        failed(e);
      }
      connectNext();
    }
    return Status.UNREACHABLE;
  }

  /** Begins to connect to the next address that is not refused at once; if there is none, ends. */
  private void connectNext() {
    closeChannel();
    while (channel == null && tried < addresses.size()) {
      long nowNs = device.nowNs();
      nextNs = nowNs + (deadlineNs - nowNs) / (addresses.size() - tried);
      InetAddress to = addresses.get(tried++);
      try {
        channel = SocketChannel.open();
        Sockets.configure(channel);
        channel.connect(new InetSocketAddress(to, port));
      } catch (IOException e) {
        failed(e);
        closeChannel();
      } catch (UnsupportedAddressTypeException e) {
        closeChannel();
      }
    }
  }

  /** Keeps the kernel's error, unless it is that nobody listens at the address. */
  private void failed(IOException e) {
    failure = e instanceof ConnectException ? "" : FileErrors.inWords(e);
  }

  /**
   * Returns when {@link #advance} must be called though nothing happened, on the device's clock.
   */
  long lookAgainNs() {
    return channel == null ? deadlineNs : nextNs;
  }

  /** Returns the socket; null during the lookup, and when no address takes the connection. */
  SocketChannel channel() {
    return channel;
  }

  /** Returns the name of the host, or its address if it was given as an address. */
  String host() {
    return host;
  }

  int port() {
    return port;
  }

  /** Returns why the socket can't be connected; empty when that is unknown. */
  String failure() {
    return lookup == null
        ? failure
        : "the name " + host + " could not be looked up within this time";
  }

  void close() {
    if (lookup != null) {
      lookup.forget(wakeup);
    }
    closeChannel();
  }

  private void closeChannel() {
    if (channel != null) {
      Sockets.close(channel);
    }
    channel = null;
  }
}
