package io.erda.eval.process;

import io.erda.rdma.Poller;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A process that sleeps in a read of a Unix socket and sends each byte back: measures the time of
 * waking a process and getting its answer. One thread.
 */
public final class EchoChild implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofSeconds(20);
  private static final String LISTENING = "listening";
  private static final long ANSWER_NS_MAX = 5_000_000_000L;

  private final Children children;
  private final Child child;
  private final SocketChannel channel;
  private final ByteBuffer one = ByteBuffer.allocateDirect(1);
  private final Poller poller = new Poller(System::nanoTime, Poller.DEFAULT_SPIN_NS, ANSWER_NS_MAX);

  private EchoChild(Children children, Child child, SocketChannel channel) {
    this.children = children;
    this.child = child;
    this.channel = channel;
  }

  /** Starts it; {@code directory} holds its socket. */
  public static EchoChild start(Children children, Jvm jvm, Path directory) {
    Path socket = directory.resolve("echo");
    Child child =
        children.start("the echo process", jvm.command(EchoChild.class, socket.toString()));
    child.await(LISTENING, START_TIMEOUT);
    try {
      SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
      channel.configureBlocking(false);
      return new EchoChild(children, child, channel);
    } catch (IOException e) {
      throw new ProcessException("can't connect to the echo process: " + e.getMessage(), e);
    }
  }

  /**
   * Sends a byte and polls, as a client does, until it is back.
   *
   * @return nanoseconds
   */
  public long roundTripNs() {
    try {
      long startNs = System.nanoTime();
      channel.write(one.clear());
      one.clear();
      poller.reset();
      while (true) {
        int count = channel.read(one);
        if (count == 1) {
          return System.nanoTime() - startNs;
        }
        if (count < 0 || !poller.mayPoll(0)) {
          throw new ProcessException("the echo process does not answer" + child.errorTail());
        }
      }
    } catch (IOException e) {
      throw new ProcessException("the echo process is gone: " + e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      // Its process is ended in any case.
    }
    child.end();
    children.forget(child);
  }

  /** The process itself: {@code EchoChild SOCKET}. It ends with its connection. */
  public static void main(String[] args) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(args[0]));
      System.out.println(LISTENING);
      try (SocketChannel channel = server.accept()) {
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        while (channel.read(one.clear()) == 1) {
          channel.write(one.flip());
        }
      }
    }
  }
}
