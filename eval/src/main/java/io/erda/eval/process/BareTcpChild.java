package io.erda.eval.process;

import io.erda.rdma.Poller;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/**
 * A process that answers requests over TCP with a requested number of bytes: measures the least
 * time of a round trip on this machine. A request's first 8 bytes give its length and that of the
 * answer. One thread.
 *
 * <p>Both ends use sockets like the tcp device's (non-blocking, no delay) and wait as it does: the
 * process sleeps in a selector, the requester polls and yields and then sleeps in one.
 */
public final class BareTcpChild implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofSeconds(20);
  private static final String LISTENING = "listening ";
  private static final long SLEEP_MS = 100;
  private static final int HEADER_BYTES = 8;
  private static final int BUFFER_BYTES = 64 << 10;

  private final Children children;
  private final Child child;
  private final SocketChannel channel;
  private final Selector selector;
  private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final Poller poller =
      new Poller(System::nanoTime, Poller.DEFAULT_SPIN_NS, Poller.DEFAULT_BUDGET_NS);

  private BareTcpChild(Children children, Child child, SocketChannel channel) throws IOException {
    this.children = children;
    this.child = child;
    this.channel = channel;
    this.selector = Selector.open();
    configure(channel).register(selector, SelectionKey.OP_READ);
  }

  /** Starts it, and connects. */
  public static BareTcpChild start(Children children, Jvm jvm) {
    Child child =
        children.start("the answering process", jvm.ofServer().command(BareTcpChild.class));
    String line = child.await(LISTENING, START_TIMEOUT);
    int port = Integer.parseInt(line.substring(LISTENING.length()));
    try {
      SocketChannel channel =
          SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return new BareTcpChild(children, child, channel);
    } catch (IOException e) {
      throw new ProcessException("can't connect to the answering process: " + e.getMessage(), e);
    }
  }

  private static SocketChannel configure(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    return channel;
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @param requestBytes 8 … 64 KiB
   * @param answerBytes 1 … 64 KiB
   */
  public void roundTrip(int requestBytes, int answerBytes) {
    try {
      out.clear().putInt(requestBytes).putInt(answerBytes);
      channel.write(out.position(0).limit(requestBytes));
      in.clear().limit(answerBytes);
      poller.reset();
      while (true) {
        int count = channel.read(in);
        if (!in.hasRemaining()) {
          return;
        }
        if (count < 0) {
          throw new ProcessException("the answering process is gone" + child.errorTail());
        }
        if (!poller.mayPoll(count)) {
          selector.select(key -> {}, SLEEP_MS);
          poller.reset();
        }
      }
    } catch (IOException e) {
      throw new ProcessException("the answering process is gone: " + e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    try {
      selector.close();
      channel.close();
    } catch (IOException e) {
      // Its process is ended in any case.
    }
    child.end();
    children.forget(child);
  }

  /** The process itself. It ends with its connection. */
  public static void main(String[] arguments) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open();
        Selector waiting = Selector.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      System.out.println(LISTENING + server.socket().getLocalPort());
      try (SocketChannel peer = configure(server.accept())) {
        peer.register(waiting, SelectionKey.OP_READ);
        answer(peer, waiting);
      }
    }
  }

  private static void answer(SocketChannel peer, Selector waiting) throws IOException {
    ByteBuffer request = ByteBuffer.allocateDirect(BUFFER_BYTES);
    ByteBuffer answer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    while (true) {
      waiting.select(key -> {}, 0);
      if (peer.read(request) < 0) {
        return;
      }
      if (request.position() >= HEADER_BYTES && request.position() >= request.getInt(0)) {
        answer.clear().limit(request.getInt(Integer.BYTES));
        request.clear();
        while (answer.hasRemaining()) {
          peer.write(answer);
        }
      }
    }
  }
}
