package io.erda.launcher.watch;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Tells systemd, or whoever else set {@code NOTIFY_SOCKET}, how far this process is: the protocol
 * of sd_notify(3), a datagram to a Unix socket. The JDK has no such datagrams, so the calls are
 * foreign. No call waits. Any thread may tell something.
 */
@SuppressWarnings("restricted")
public final class ServiceManager {
  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
  private static final int MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000;
  private static final int FAMILY_BYTES = 2;
  private static final int PATH_BYTES_MAX = 108;

  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(java.lang.foreign.MemoryLayout.PathElement.groupElement("errno"));

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
      Calls.send(address, length, message, arena.allocate(STATE));
    }
  }

  /** The foreign calls; looked up when the first one is made. */
  private static final class Calls {
    private static final MethodHandle SOCKET =
        handle("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle SENDTO =
        handle(
            "sendto",
            FunctionDescriptor.of(
                JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle CLOSE =
        handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
      Linker linker = Linker.nativeLinker();
      return linker.downcallHandle(
          linker.defaultLookup().findOrThrow(name),
          descriptor,
          Linker.Option.captureCallState("errno"));
    }

    static void send(MemorySegment address, int length, MemorySegment message, MemorySegment state)
        throws IOException {
      try {
        int descriptor = (int) SOCKET.invokeExact(state, AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
        check("socket", descriptor, state);
        try {
          long sent =
              (long)
                  SENDTO.invokeExact(
                      state,
                      descriptor,
                      message,
                      message.byteSize(),
                      MSG_DONTWAIT_NOSIGNAL,
                      address,
                      length);
          check("sendto", sent, state);
        } finally {
          int ignored = (int) CLOSE.invokeExact(state, descriptor);
        }
      } catch (IOException | RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }

    private static void check(String call, long result, MemorySegment state) throws IOException {
      if (result < 0) {
        throw new IOException(
            "can't tell the service manager: " + call + ": errno " + (int) ERRNO.get(state, 0L));
      }
    }
  }
}
