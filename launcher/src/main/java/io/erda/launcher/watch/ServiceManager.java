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
 * Tells systemd, or whoever else set {@code NOTIFY_SOCKET}, how far this process is: the protocol
 * of sd_notify(3), a datagram to a Unix socket. The JDK has no such datagrams, so the calls are
 * foreign. No call waits. Any thread may tell something.
 */
public final class ServiceManager {
  private static final int AF_UNIX = 1;
  private static final int FAMILY_BYTES = 2;
  private static final int PATH_BYTES_MAX = 108;

  private final String socket;

  /**
   * @param socket as {@code NOTIFY_SOCKET} has it: a path, or a name behind {@code @}; null or
   *     empty where nobody wants to be told
   */
  public ServiceManager(String socket) {
    this.socket = socket == null ? "" : socket;
  }

  /** The one that started this process, if any. */
  public static ServiceManager ofEnvironment() {
    return new ServiceManager(System.getenv("NOTIFY_SOCKET"));
  }

  /** The process does now what it was started for. */
  public void ready(String status) throws IOException {
    send("READY=1\nSTATUS=" + oneLine(status));
  }

  /** Tells in a line for people what the process is doing. */
  public void status(String status) throws IOException {
    send("STATUS=" + oneLine(status));
  }

  /** The process is about to end. */
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
      // A path ends with a zero, a name without a file does not.
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
