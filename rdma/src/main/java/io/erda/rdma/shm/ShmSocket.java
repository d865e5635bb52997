package io.erda.rdma.shm;

import io.erda.pmem.libc.Libc;
import io.erda.rdma.StackRoom;
import io.erda.rdma.rings.QueueLayout;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.attribute.UserPrincipal;
import jdk.net.ExtendedSocketOptions;

/**
 * The socket of a connection. It carries HELLO, then wake-ups, and its end shows that the peer's
 * process has ended. Owns the channel. No method blocks.
 *
 * <pre>
 *   HELLO, 64 bytes:  0 magic (8) · 8 version (4) · 12 name length (4) · 16 name of the queue file, ASCII, padded with zeros
 * </pre>
 */
public final class ShmSocket {
  public static final String FILE = "socket";
  static final int HELLO_BYTES = 64;

  /** "ERDAHEL\0" as a little-endian word. */
  private static final long HELLO_MAGIC = 0x004c4548_41445245L;

  private static final int BACKLOG = 1024;

  /**
   * The byte that the server sends instead of a wake-up when it may not open the queue file, before
   * it closes the socket.
   */
  private static final byte DENIED = 2;

  /** The number of the superuser. */
  private static final String SUPERUSER = "0";

  private static final int DRAINS_MAX = 16;

  private final SocketChannel channel;
  private final ByteBuffer bell = ByteBuffer.allocateDirect(1);
  private final ByteBuffer drain = ByteBuffer.allocateDirect(64);
  private boolean denied;
  private boolean rings;

  ShmSocket(SocketChannel channel) {
    this.channel = channel;
  }

  public SocketChannel channel() {
    return channel;
  }

  /**
   * Binds a socket in the directory, which replaces the socket of a dead server. The caller holds
   * the directory's lock.
   */
  static ServerSocketChannel listen(ShmDirectory directory) throws IOException {
    directory.clear(FILE);
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      server.bind(address(directory), BACKLOG);
      directory.shareSocket(FILE);
      server.configureBlocking(false);
      return server;
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** Returns a connected socket; null when the server's backlog is full, then try again. */
  public static ShmSocket connect(ShmDirectory directory) throws IOException {
    StackRoom.require(StackRoom.OF_CHANNEL);
    int socket = directory.openSocket(FILE);
    try {
      return connect(directory, UnixDomainSocketAddress.of(ShmDirectory.reopened(socket)));
    } finally {
      Libc.close(socket);
    }
  }

  private static ShmSocket connect(ShmDirectory directory, SocketAddress address)
      throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.configureBlocking(false);
      if (channel.connect(address)) {
        return new ShmSocket(channel);
      }
    } catch (SocketException e) {
      channel.close();
      if (e instanceof ConnectException || !Files.isWritable(directory.at(FILE))) {
        throw e;
      }
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
    channel.close();
    return null;
  }

  /**
   * Returns an address that leads through the open directory. The path of the directory may be
   * longer than the 100 bytes of such an address, and may now lead to another directory.
   */
  private static SocketAddress address(ShmDirectory directory) {
    return UnixDomainSocketAddress.of(directory.at(FILE));
  }

  /** Returns the user of the other end, as the kernel recorded it when the connection was made. */
  UserPrincipal peer() throws IOException {
    return channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
  }

  /** Returns the user with an ID; it is equal to the {@link #peer} with this ID. */
  public static UserPrincipal user(int id) throws IOException {
    return FileSystems.getDefault()
        .getUserPrincipalLookupService()
        .lookupPrincipalByName(Integer.toString(id));
  }

  static boolean isSuperuser(UserPrincipal user) throws IOException {
    return user.equals(
        FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(SUPERUSER));
  }

  /** Names the queue file to the server. */
  public void sendHello(String name) throws IOException {
    StackRoom.require(StackRoom.OF_CHANNEL);
    if (channel.write(hello(name)) != HELLO_BYTES) {
      throw new IOException("HELLO was cut short");
    }
  }

  public static ByteBuffer hello(String name) {
    byte[] ascii = name.getBytes(StandardCharsets.US_ASCII);
    ByteBuffer hello = ByteBuffer.allocate(HELLO_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    hello
        .putLong(0, HELLO_MAGIC)
        .putInt(8, QueueLayout.VERSION)
        .putInt(12, ascii.length)
        .put(16, ascii);
    return hello;
  }

  /** The version in a peer's HELLO, which is at the same place in every version. */
  static int helloVersion(ByteBuffer hello) {
    return hello.order(ByteOrder.LITTLE_ENDIAN).getInt(8);
  }

  /**
   * The name of a queue file or spare in a peer's HELLO of any version; null when it is invalid.
   */
  public static String helloName(ByteBuffer hello) {
    hello.order(ByteOrder.LITTLE_ENDIAN);
    int length = hello.getInt(12);
    if (hello.getLong(0) != HELLO_MAGIC || length < 1 || length > HELLO_BYTES - 16) {
      return null;
    }
    byte[] ascii = new byte[length];
    hello.get(16, ascii);
    String name = new String(ascii, StandardCharsets.US_ASCII);
    return QueueFile.isName(name) || SpareQueueFiles.isName(name) ? name : null;
  }

  /** Wakes the peer. When the socket is full, it already holds unread wake-ups. */
  public boolean ring() {
    StackRoom.require(StackRoom.OF_CHANNEL);
    try {
      channel.write(bell.clear());
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Tells the peer that this user may not open its queue file. */
  void deny() {
    StackRoom.require(StackRoom.OF_CHANNEL);
    try {
      channel.write(ByteBuffer.wrap(new byte[] {DENIED}));
    } catch (IOException e) {
      // The peer learns of the refusal by the end of the socket.
    }
  }

  /** Whether the server has reported that it may not open the queue file. */
  boolean isDenied() {
    return denied;
  }

  /**
   * Takes the wake-ups, or a part of them when there are very many. Returns false when the peer has
   * closed its end.
   */
  public boolean drain() {
    StackRoom.require(StackRoom.OF_CHANNEL);
    try {
      int count = channel.read(drain.clear());
      rings = count > 0;
      denied |= count > 0 && drain.get(0) == DENIED;
      // The end of the stream may follow the last wake-up. When there are very many wake-ups, the
      // next call takes the rest.
      for (int turn = 1; turn < DRAINS_MAX && count > 0; turn++) {
        count = channel.read(drain.clear());
      }
      return count >= 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** Whether the last {@link #drain} took a wake-up. */
  boolean hadRings() {
    return rings;
  }

  public void close() {
    StackRoom.require(StackRoom.OF_CHANNEL);
    try {
      channel.close();
    } catch (IOException e) {
      // The error does not matter, because the socket is not used any more.
    }
  }
}
