package io.erda.launcher.watch;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.pmem.libc.Errno;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Tells the state of this process to systemd, or any other service manager that set {@code
 * NOTIFY_SOCKET}, by the protocol of sd_notify(3), a datagram to a Unix socket. The JDK has no such
 * datagrams, so the calls are foreign. No call blocks. Any thread may call.
 */
public final class ServiceManager {
  private static final int AF_UNIX = 1;
  private static final int FAMILY_BYTES = 2;
  private static final int PATH_BYTES_MAX = 108;

  private final String socket;

  /**
   * @param socket as {@code NOTIFY_SOCKET} has it: a path, or a name behind {@code @}; null or
   *     empty when there is no service manager
   */
  public ServiceManager(String socket) {
    this.socket = socket == null ? "" : socket;
  }

  /** The service manager that started this process, if any. */
  public static ServiceManager ofEnvironment() {
    return new ServiceManager(System.getenv("NOTIFY_SOCKET"));
  }

  /** Tells that the process has started its service. */
  public void ready(String status) throws IOException {
    send("READY=1\nSTATUS=" + oneLine(status));
  }

  /** Tells what the process is doing, in a line for people. */
  public void status(String status) throws IOException {
    send("STATUS=" + oneLine(status));
  }

  /** Tells that the process is about to end. */
  public void stopping() throws IOException {
    send("STOPPING=1");
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\p{Cntrl}+", "; ");
  }

  private void send(String state) throws IOException {
    if (socket.isEmpty()) {
      return;
    }
    byte[] name = socket.getBytes(UTF_8);
    boolean isAbstract = name[0] == '@';
    if (name.length >= PATH_BYTES_MAX || !isAbstract && name[0] != '/') {
      throw new IOException("NOTIFY_SOCKET is no name of a Unix socket: " + socket);
    }
    name[0] = isAbstract ? 0 : name[0];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = arena.allocate(FAMILY_BYTES + PATH_BYTES_MAX, Short.BYTES);
      address.set(JAVA_SHORT, 0, (short) AF_UNIX);
      MemorySegment.copy(name, 0, address, JAVA_BYTE, FAMILY_BYTES, name.length);
      // A path ends with a zero, an abstract name does not.
      int length = FAMILY_BYTES + name.length + (isAbstract ? 0 : 1);
      byte[] text = state.getBytes(UTF_8);
      MemorySegment message = arena.allocate(text.length);
      MemorySegment.copy(text, 0, message, JAVA_BYTE, 0, text.length);
      int descriptor = check("socket", Libc.datagramSocket());
      try {
        check("sendto", Libc.send(descriptor, message, address, length));
      } finally {
        Libc.close(descriptor);
      }
    }
  }

  private static int check(String call, int result) throws IOException {
    if (result < 0) {
      throw new IOException("can't tell the service manager: " + Errno.inWords(call, -result));
    }
    return result;
  }
}
