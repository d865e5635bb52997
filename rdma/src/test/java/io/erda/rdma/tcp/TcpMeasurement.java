package io.erda.rdma.tcp;

import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Work;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Arrays;

/**
 * Prints what a READ over TCP costs on this machine, against a bare request and response of the
 * same bytes between a thread that selects and one that polls. Not a test: a main class to run by
 * hand, with the classes and test classes of this module and the classes of pmem on the class path.
 */
final class TcpMeasurement {
  private static final int BYTES = 1024;
  private static final int ROUNDS = 4;
  private static final int READS = 10_000;
  private static final int REQUEST = Frame.HEADER_BYTES + Frame.READ_BYTES;
  private static final int ANSWER = Frame.HEADER_BYTES + BYTES;

  private TcpMeasurement() {}

  public static void main(String[] arguments) throws Exception {
    try (TcpFixture fixture = new TcpFixture();
        Bare bare = new Bare()) {
      Listener listener = fixture.server().listen(fixture.address());
      MemorySegment there = fixture.serverMemory(1 << 20).segment();
      MemoryRegion region =
          fixture.server().register(there, Backing.none(1 << 20), Access.REMOTE_READ);
      MemorySegment here = fixture.clientMemory(1 << 20);
      MemoryRegion local = fixture.client().register(here, Backing.none(1 << 20), Access.LOCAL);
      Reader reader = new Reader(connect(fixture, listener), local, region.remoteKey());
      for (int round = 0; round < ROUNDS; round++) {
        // Both are measured alternately, so that other work of the machine affects both.
        print("bare, one at a time", bare.run(READS));
        print("READ, one at a time", reader.run(READS, 1));
        print("READ, 16 in flight", reader.run(READS, 16));
      }
    }
  }

  private static void print(String what, long[] ns) {
    Arrays.sort(ns, 1, ns.length);
    System.out.printf(
        "%-22s mean %7d ns, median %7d, 99%% %7d%n",
        what, ns[0], ns[ns.length / 2], ns[ns.length - ns.length / 100]);
  }

  private static QueuePair connect(TcpFixture fixture, Listener listener) {
    QueuePair end =
        fixture
            .client()
            .connect(fixture.address(), MemorySegment.ofArray(new byte[0]), Duration.ofSeconds(20));
    boolean[] connected = new boolean[1];
    while (!connected[0]) {
      ConnectionRequest request = listener.poll();
      if (request != null) {
        request.accept(MemorySegment.ofArray(new byte[0]));
      }
      end.poll((wrId, opcode, status, length, imm) -> connected[0] |= opcode == Opcode.CONNECT, 1);
    }
    return end;
  }

  /** READs through a queue pair. */
  private static final class Reader implements CompletionHandler {
    private final QueuePair end;
    private final MemoryRegion local;
    private final long key;
    private int done;

    Reader(QueuePair end, MemoryRegion local, long key) {
      this.end = end;
      this.local = local;
      this.key = key;
    }

    @Override
    public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
      done++;
    }

    /** The mean first, then each READ's time; of several in flight their share of it. */
    long[] run(int reads, int atATime) {
      long[] ns = new long[reads / atATime + 1];
      long begun = System.nanoTime();
      Work read = Work.read().signaled();
      for (int i = 1; i < ns.length; i++) {
        long before = System.nanoTime();
        done = 0;
        for (int each = 0; each < atATime; each++) {
          read.local(local, each * 2048L, BYTES).remote(key, each * 4096L);
          end.post(read.id(each));
        }
        while (done < atATime) {
          if (end.poll(this, atATime) == 0) {
            Thread.yield();
          }
        }
        ns[i] = (System.nanoTime() - before) / atATime;
      }
      ns[0] = (System.nanoTime() - begun) / ((ns.length - 1L) * atATime);
      return ns;
    }
  }

  /** Transfers the same bytes in both directions, without the device. */
  private static final class Bare implements AutoCloseable {
    private final ServerSocketChannel listening = ServerSocketChannel.open();
    private final Selector selector = Selector.open();
    private final SocketChannel client;

    Bare() throws IOException {
      listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      client = SocketChannel.open(listening.getLocalAddress());
      client.setOption(StandardSocketOptions.TCP_NODELAY, true);
      client.configureBlocking(false);
      SocketChannel server = listening.accept();
      server.setOption(StandardSocketOptions.TCP_NODELAY, true);
      server.configureBlocking(false);
      server.register(selector, SelectionKey.OP_READ);
      Thread.ofPlatform().daemon().start(() -> serve(server));
    }

    private void serve(SocketChannel server) {
      ByteBuffer in = ByteBuffer.allocateDirect(1 << 16);
      ByteBuffer out = ByteBuffer.allocateDirect(ANSWER);
      try {
        while (selector.isOpen()) {
          selector.select(key -> {}, 0);
          server.read(in);
          if (in.position() >= REQUEST) {
            in.clear();
            server.write(out.clear());
          }
        }
      } catch (IOException e) {
        // It was closed.
      }
    }

    long[] run(int rounds) throws IOException {
      ByteBuffer out = ByteBuffer.allocateDirect(REQUEST);
      ByteBuffer in = ByteBuffer.allocateDirect(1 << 16);
      long[] ns = new long[rounds + 1];
      long begun = System.nanoTime();
      for (int i = 1; i <= rounds; i++) {
        long before = System.nanoTime();
        client.write(out.clear());
        in.clear();
        while (in.position() < ANSWER) {
          if (client.read(in) == 0) {
            Thread.yield();
          }
        }
        ns[i] = System.nanoTime() - before;
      }
      ns[0] = (System.nanoTime() - begun) / rounds;
      return ns;
    }

    @Override
    public void close() throws IOException {
      selector.close();
      client.close();
      listening.close();
    }
  }
}
