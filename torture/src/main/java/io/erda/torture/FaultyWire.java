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
 * A way between clients and a server over TCP that does to the bytes what cables, switches and
 * hosts do to them: it flips bits, cuts connections in the middle of a frame, and stalls. It
 * listens on loopback and has two threads for each connection. Owns its sockets.
 */
final class FaultyWire implements AutoCloseable {
  private static final int CONNECT_MS_MAX = 5_000;
  private static final int BACKLOG = 64;
  private static final int BUFFER_BYTES = 64 << 10;

  /** The faults that a connection may meet. */
  enum Kind {
    /** A bit of a byte changes. */
    FLIP,
    /** The connection ends, for both its ends. */
    CUT,
    /** Nothing of this direction arrives for a while. */
    STALL
  }

  /**
   * One fault of one direction of one connection.
   *
   * @param afterBytes so many bytes behind the fault before it, or behind the beginning
   * @param bit of the next byte, for a flip
   * @param stallNs for a stall
   */
  record Fault(Kind kind, long afterBytes, int bit, long stallNs) {}

  /** Decides the faults of one connection. Each direction asks from a thread of its own. */
  @FunctionalInterface
  interface Plan {
    Plan NONE = toServer -> null;

    /**
     * Returns the next fault of a direction; null when there is none any more.
     *
     * @param toServer whether it is about the bytes from the client to the server
     */
    Fault next(boolean toServer);
  }

  /** Gives each connection its plan. */
  @FunctionalInterface
  interface Plans {
    Plan of(long connection);
  }

  /** How often each kind of fault has happened, and how many bytes went each way. */
  static final class Counts {
    final AtomicLong flips = new AtomicLong();
    final AtomicLong cuts = new AtomicLong();
    final AtomicLong stalls = new AtomicLong();
    final AtomicLong bytesToServer = new AtomicLong();
    final AtomicLong bytesToClient = new AtomicLong();

    /** These faults and those of wires before. */
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
   * @param server where connections go to
   * @param plans what happens to them
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

  /** Where clients connect to: HOST:PORT. */
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

  /** Passes one direction on until either end has ended; ends both then. */
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
      // Either end has ended.
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
      // Nothing is left to be done with it.
    }
  }

  @Override
  public void close() {
    closed = true;
    close(listening);
    new ArrayList<>(open).forEach(FaultyWire::close);
  }
}
