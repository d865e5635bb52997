package io.erda.torture;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A proxy between clients and a server over TCP that injects the faults of cables, switches and
 * hosts: it flips bits, cuts connections in the middle of a frame, and stalls. It listens on
 * loopback and has two threads for each connection. Owns its sockets.
 */
final class FaultyWire implements AutoCloseable {
  private static final int CONNECT_MS_MAX = 5_000;
  private static final int BACKLOG = 64;
  private static final int BUFFER_BYTES = 64 << 10;

  /** The kinds of faults. */
  enum Kind {
    /** A bit of a byte changes. */
    FLIP,
    /** The connection ends, for both peers. */
    CUT,
    /** No bytes arrive in this direction for a while. */
    STALL
  }

  /**
   * One fault of one direction of one connection.
   *
   * @param afterBytes number of bytes after the previous fault, or after the beginning
   * @param bit of the next byte, for a flip
   * @param stallNs for a stall
   */
  record Fault(Kind kind, long afterBytes, int bit, long stallNs) {}

  /** Decides the faults of one connection. Each direction calls it in its own thread. */
  @FunctionalInterface
  interface Plan {
    Plan NONE = toServer -> null;

    /**
     * Returns the next fault of a direction; null when there are no more.
     *
     * @param toServer whether the direction is from the client to the server
     */
    Fault next(boolean toServer);
  }

  /** Gives each connection its plan. */
  @FunctionalInterface
  interface Plans {
    Plan of(long connection);
  }

  /** Number of faults of each kind, and of bytes in each direction. */
  static final class Counts {
    final AtomicLong flips = new AtomicLong();
    final AtomicLong cuts = new AtomicLong();
    final AtomicLong stalls = new AtomicLong();
    final AtomicLong bytesToServer = new AtomicLong();
    final AtomicLong bytesToClient = new AtomicLong();

    /** The sum of these faults and those of earlier wires. */
    TortureResult.Wire addTo(TortureResult.Wire before) {
      return new TortureResult.Wire(
          before.flips() + flips.get(), before.cuts() + cuts.get(), before.stalls() + stalls.get());
    }
  }

  private final InetSocketAddress server;
  private final Plans plans;
  private final ServerSocket listening;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final Counts counts = new Counts();
  private volatile boolean closed;

  /**
   * @param server the address that connections are passed to
   * @param plans of the faults
   */
  FaultyWire(InetSocketAddress server, Plans plans) throws IOException {
    this.server = server;
    this.plans = plans;
    this.listening = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    start("accept", this::accept);
  }

  private static void start(String what, Runnable task) {
    Thread.ofPlatform().daemon().name("faulty-wire-" + what).start(task);
  }

  /** The address for clients: HOST:PORT. */
  String address() {
    return listening.getInetAddress().getHostAddress() + ":" + listening.getLocalPort();
  }

  Counts counts() {
    return counts;
  }

  private void accept() {
    for (long number = 0; !closed; number++) {
      try {
        begin(listening.accept(), plans.of(number));
      } catch (IOException e) {
        // The wire was closed, or this connection ended before it began.
      }
    }
  }

  private void begin(Socket client, Plan plan) {
    open.add(client);
    start(
        "to-server",
        () -> {
          Socket there = new Socket();
          open.add(there);
          try {
            there.connect(server, CONNECT_MS_MAX);
            client.setTcpNoDelay(true);
            there.setTcpNoDelay(true);
            start("to-client", () -> pump(there, client, plan, false));
          } catch (IOException e) {
            end(client, there);
            return;
          }
          pump(client, there, plan, true);
        });
  }

  /** Copies one direction until either peer has ended, and then ends both. */
  private void pump(Socket from, Socket to, Plan plan, boolean toServer) {
    AtomicLong passed = toServer ? counts.bytesToServer : counts.bytesToClient;
    byte[] buffer = new byte[BUFFER_BYTES];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      Fault next = plan.next(toServer);
      long left = next == null ? Long.MAX_VALUE : next.afterBytes();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        int begin = 0;
        while (left < read - begin) {
          int at = begin + (int) left;
          if (next.kind() == Kind.FLIP) {
            buffer[at] ^= (byte) (1 << next.bit());
            counts.flips.incrementAndGet();
          }
          int end = next.kind() == Kind.FLIP ? at + 1 : at;
          out.write(buffer, begin, end - begin);
          passed.addAndGet(end - begin);
          begin = end;
          if (next.kind() == Kind.CUT) {
            counts.cuts.incrementAndGet();
            return;
          }
          if (next.kind() == Kind.STALL) {
            counts.stalls.incrementAndGet();
            Torture.pause(next.stallNs());
          }
          next = plan.next(toServer);
          left = next == null ? Long.MAX_VALUE : next.afterBytes();
        }
        out.write(buffer, begin, read - begin);
        passed.addAndGet(read - begin);
        left -= read - begin;
      }
    } catch (IOException e) {
      // Either peer has ended.
    } finally {
      end(from, to);
    }
  }

  private void end(Socket one, Socket other) {
    for (Socket each : List.of(one, other)) {
      close(each);
      open.remove(each);
    }
  }

  private static void close(Closeable closeable) {
    try {
      closeable.close();
    } catch (IOException e) {
      // The socket is not needed any more.
    }
  }

  @Override
  public void close() {
    closed = true;
    close(listening);
    new ArrayList<>(open).forEach(FaultyWire::close);
  }
}
