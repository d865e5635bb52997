package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.libc.Libc;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import io.erda.rdma.tcp.TcpClientDevice;
import io.erda.rdma.tcp.TcpOptions;
import io.erda.rdma.tcp.TcpServerDevice;
import io.erda.testing.Threads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Devices whose wait for sockets fails: the descriptor of the selector leads to another file, as
 * after a mistake of somebody else's in the process, so that the kernel refuses each wait.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class FailedSelectorTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final long SHORT_NS = 5_000_000;
  private static final String WHY = "the wait for its socket failed";

  private interface Opening<D> {
    D open() throws IOException;
  }

  @TempDir private Path directory;

  private final Recorder atClient = new Recorder();
  private int selector = -1;

  /** The descriptor by which the selector is woken. */
  private int wakeup = -1;

  private static Set<Integer> descriptors(String kind) throws IOException {
    Set<Integer> found = new HashSet<>();
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      for (Path each : all.toList()) {
        if (Files.isSymbolicLink(each) && Files.readSymbolicLink(each).toString().contains(kind)) {
          found.add(Integer.parseInt(each.getFileName().toString()));
        }
      }
    }
    return found;
  }

  /** Opens a device, and finds out which descriptor its selector has. */
  private <D> D opened(Opening<D> opening) throws IOException {
    Set<Integer> selectorsBefore = descriptors("eventpoll");
    Set<Integer> wakeupsBefore = descriptors("eventfd");
    D device = opening.open();
    selector = theOneSince(selectorsBefore, "eventpoll");
    wakeup = theOneSince(wakeupsBefore, "eventfd");
    return device;
  }

  private static int theOneSince(Set<Integer> before, String kind) throws IOException {
    Set<Integer> after = descriptors(kind);
    after.removeAll(before);
    assertEquals(1, after.size(), kind + " of one device");
    return after.iterator().next();
  }

  /** From now on each wait of that device fails. */
  private void fail() throws Throwable {
    fail(selector);
  }

  /** Makes wake-ups of threads that sleep on the device fail from now on. */
  private void failWakeups() throws Throwable {
    fail(wakeup);
  }

  private static void fail(int descriptor) throws Throwable {
    Linker linker = Linker.nativeLinker();
    MethodHandle dup2 =
        linker.downcallHandle(
            linker.defaultLookup().find("dup2").orElseThrow(),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    int nothing = Libc.open(Path.of("/dev/null"), Libc.O_RDONLY);
    try {
      assertEquals(descriptor, (int) dup2.invokeExact(nothing, descriptor));
    } finally {
      Libc.close(nothing);
    }
  }

  private QueuePair connect(Device server, Listener listener, Device client, String address) {
    atClient.all.clear();
    QueuePair requester = client.connect(address, NOTHING, PATIENCE);
    ConnectionRequest request = null;
    while (request == null) {
      requester.poll(atClient, 4);
      request = listener.poll();
      Thread.onSpinWait();
    }
    request.accept(NOTHING);
    while (atClient.all.isEmpty()) {
      requester.poll(atClient, 4);
      Thread.onSpinWait();
    }
    assertEquals(Status.SUCCESS, atClient.last().status());
    return requester;
  }

  /** A connected, an attempted and a later connection of a device that fails in between. */
  private void endsAndGoesOn(Device server, Listener listener, Device client, String address)
      throws Throwable {
    QueuePair connected = connect(server, listener, client, address);
    atClient.all.clear();
    QueuePair attempted = client.connect(address, NOTHING, PATIENCE);
    fail();
    assertTrue(connected.arm());
    assertTrue(connected.await(PATIENCE.toNanos()), "there is something to hear");
    while (!atClient.has(Opcode.DISCONNECT)) {
      connected.poll(atClient, 4);
    }
    assertTrue(connected.failure().startsWith(WHY), connected.failure());
    atClient.all.clear();
    attempted.poll(atClient, 4);
    assertEquals(Status.LOCAL, atClient.first(Opcode.CONNECT).status());
    assertTrue(attempted.failure().startsWith(WHY), attempted.failure());
    attempted.close();
    connected.close();
    // A request that came before the failure.
    ConnectionRequest left = listener.poll();
    if (left != null) {
      left.reject(NOTHING);
    }
    QueuePair later = connect(server, listener, client, address);
    assertTrue(later.arm());
    later.await(SHORT_NS);
    assertEquals(0, later.poll(atClient, 4));
    later.close();
  }

  @Test
  void overShm() throws Throwable {
    String address = directory.resolve("shm").toString();
    try (ShmDevice server = ShmDevice.open(ShmOptions.toServe(Path.of(address), System::nanoTime));
        Listener listener = server.listen(address);
        ShmDevice client = opened(() -> ShmDevice.open(ShmOptions.toConnect(System::nanoTime)))) {
      endsAndGoesOn(server, listener, client, address);
    }
  }

  @Test
  void overTcp() throws Throwable {
    TcpOptions options = TcpOptions.of(System::nanoTime, new SecureRandom());
    try (TcpServerDevice server = TcpServerDevice.open(options);
        Listener listener = server.listen("127.0.0.1:0");
        TcpClientDevice client = opened(() -> TcpClientDevice.open(options))) {
      endsAndGoesOn(server, listener, client, listener.address());
    }
  }

  /** Closing throws nothing, and frees what others need. */
  @Test
  void aServersDeviceSaysItAndClosesAllTheSame() throws Throwable {
    String address = directory.resolve("shm").toString();
    ShmDevice server =
        opened(() -> ShmDevice.open(ShmOptions.toServe(Path.of(address), System::nanoTime)));
    try {
      server.listen(address);
      fail();
      assertThrows(UncheckedIOException.class, () -> server.await(SHORT_NS));
    } finally {
      server.close();
    }
    ShmDevice.open(ShmOptions.toServe(Path.of(address), System::nanoTime)).close();
  }

  /**
   * A sleeping thread that can't be woken checks by itself, and the waking thread gets no error.
   */
  private void isAwakeAfterAll(Device device) throws Throwable {
    failWakeups();
    FutureTask<Throwable> sleeping =
        Threads.start("sleeper", () -> assertTrue(device.await(PATIENCE.toNanos())));
    device.wakeup();
    assertNull(sleeping.get());
  }

  @Test
  void aThreadThatSleepsOnShmAndCannotBeWokenLooksByItself() throws Throwable {
    try (ShmDevice client = opened(() -> ShmDevice.open(ShmOptions.toConnect(System::nanoTime)))) {
      isAwakeAfterAll(client);
    }
  }

  @Test
  void aThreadThatSleepsOnTcpAndCannotBeWokenLooksByItself() throws Throwable {
    TcpOptions options = TcpOptions.of(System::nanoTime, new SecureRandom());
    try (TcpClientDevice client = opened(() -> TcpClientDevice.open(options))) {
      isAwakeAfterAll(client);
    }
  }

  /**
   * The server's thread posts, refuses and closes while the I/O thread can't be woken. It used to
   * get an {@link InternalError}, as if memory of its store were gone.
   */
  @Test
  void aServersThreadGoesOnWhereTheIoThreadCannotBeWoken() throws Throwable {
    TcpOptions options = TcpOptions.of(System::nanoTime, new SecureRandom());
    try (TcpServerDevice server = TcpServerDevice.open(options);
        Listener listener = opened(() -> server.listen("127.0.0.1:0"));
        TcpClientDevice client = TcpClientDevice.open(options)) {
      failWakeups();
      QueuePair connected = connect(server, listener, client, listener.address());
      connected.close();
    }
  }
}
