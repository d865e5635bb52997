package io.erda.launcher.watch;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the datagrams that arrive at a real Unix socket. */
class ServiceManagerTest {
  private static final int MSG_DONTWAIT = 0x40;

  /** A socket that receives: the service manager's end. */
  private static final class Receiver implements AutoCloseable {
    private final Arena arena = Arena.ofConfined();
    private final int descriptor;

    Receiver(String name) throws Throwable {
      descriptor = (int) call("socket", JAVA_INT, JAVA_INT, JAVA_INT).invokeExact(1, 2, 0);
      byte[] bytes = name.replace('@', '\0').getBytes(UTF_8);
      MemorySegment address = arena.allocate(110, 2);
      address.set(JAVA_SHORT, 0, (short) 1);
      MemorySegment.copy(bytes, 0, address, JAVA_BYTE, 2, bytes.length);
      int length = 2 + bytes.length + (name.startsWith("@") ? 0 : 1);
      int bound =
          (int) call("bind", JAVA_INT, ADDRESS, JAVA_INT).invokeExact(descriptor, address, length);
      assertEquals(0, bound);
    }

    /** Returns the datagram that has come, or null when there is none. */
    String receive() throws Throwable {
      MemorySegment buffer = arena.allocate(4096);
      long length =
          (int)
              call("recv", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT)
                  .invokeExact(descriptor, buffer, 4096L, MSG_DONTWAIT);
      return length < 0 ? null : new String(buffer.asSlice(0, length).toArray(JAVA_BYTE), UTF_8);
    }

    private static MethodHandle call(String name, java.lang.foreign.MemoryLayout... arguments) {
      Linker linker = Linker.nativeLinker();
      return linker.downcallHandle(
          linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(JAVA_INT, arguments));
    }

    @Override
    public void close() throws IOException {
      try {
        int ignored = (int) call("close", JAVA_INT).invokeExact(descriptor);
      } catch (Throwable e) {
        throw new IOException(e);
      }
      arena.close();
    }
  }

  @Test
  void overASocketWithAPath(@TempDir Path directory) throws Throwable {
    tells(directory.resolve("notify").toString());
  }

  @Test
  void overASocketWithoutAFile() throws Throwable {
    tells("@erda-test-" + ProcessHandle.current().pid());
  }

  private static void tells(String name) throws Throwable {
    try (Receiver receiver = new Receiver(name)) {
      ServiceManager manager = new ServiceManager(name);
      manager.ready("serves /data");
      assertEquals("READY=1\nSTATUS=serves /data", receiver.receive());
      manager.status("the store is read-only: a\nREADY=1");
      assertEquals("STATUS=the store is read-only: a; READY=1", receiver.receive());
      manager.stopping();
      assertEquals("STOPPING=1", receiver.receive());
      assertEquals(null, receiver.receive());
    }
  }

  @Test
  void nobodyWantsToKnow() throws IOException {
    new ServiceManager(null).ready("serves");
    new ServiceManager("").ready("serves");
  }

  @Test
  void nobodyIsThere(@TempDir Path directory) {
    String nobody = directory.resolve("nobody").toString();
    String told =
        assertThrows(IOException.class, () -> new ServiceManager(nobody).stopping()).getMessage();
    assertTrue(told.contains("sendto: No such file or directory (errno 2)"), told);
    for (String wrong : new String[] {"relative", "/" + "x".repeat(200)}) {
      assertThrows(IOException.class, () -> new ServiceManager(wrong).stopping(), wrong);
    }
  }
}
