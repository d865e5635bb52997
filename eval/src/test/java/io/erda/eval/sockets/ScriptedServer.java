package io.erda.eval.sockets;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/**
 * A server for one connection that answers each request with the next answer of a script, in the
 * pieces that {@code |} makes.
 */
public final class ScriptedServer implements AutoCloseable {
  private final ServerSocketChannel server;
  private final CompletableFuture<String> sent;

  private ScriptedServer(ServerSocketChannel server, String... answers) {
    this.server = server;
    this.sent = CompletableFuture.supplyAsync(() -> answer(server, answers));
  }

  public static ScriptedServer listen(Path socket, String... answers) throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(socket));
    return new ScriptedServer(server, answers);
  }

  /** Listens by TCP. */
  public static ScriptedServer listen(SocketAddress address, String... answers) throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open();
    server.bind(address);
    return new ScriptedServer(server, answers);
  }

  public SocketAddress address() throws IOException {
    return server.getLocalAddress();
  }

  /** All requests. Waits until the script is at its end. */
  public String sent() throws Exception {
    return sent.get();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }

  private static String answer(ServerSocketChannel server, String... answers) {
    try (SocketChannel channel = server.accept()) {
      StringBuilder sent = new StringBuilder();
      ByteBuffer buffer = ByteBuffer.allocate(1024);
      for (String answer : answers) {
        channel.read(buffer.clear());
        sent.append(new String(buffer.array(), 0, buffer.position(), ISO_8859_1));
        for (String piece : answer.split("\\|")) {
          channel.write(ByteBuffer.wrap(piece.getBytes(ISO_8859_1)));
          Thread.sleep(20);
        }
      }
      return sent.toString();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
