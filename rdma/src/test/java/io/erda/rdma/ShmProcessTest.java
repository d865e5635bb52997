package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the guarantees of the shm device when a process is killed or stopped, with real processes.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ShmProcessTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final long PATIENCE_NS = 30_000_000_000L;

  @TempDir private Path directory;

  private final List<Process> processes = new ArrayList<>();
  private final Arena arena = Arena.ofShared();
  private final Recorder recorder = new Recorder();
  private Path served;

  @BeforeEach
  void nameDirectory() {
    served = directory.resolve("shm");
  }

  @AfterEach
  void endProcesses() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly();
      process.waitFor(10, TimeUnit.SECONDS);
    }
    arena.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aKilledClientIsNoticed(boolean sleeping) throws Exception {
    try (ShmDevice device = serve()) {
      Listener listener = device.listen(served.toString());
      Peer peer = start("sleep", served.toString());
      QueuePair queuePair = request(device, listener).accept(NOTHING);
      assertEquals("success", peer.says());
      queuePair.poll(recorder, 10);
      assertFalse(device.peerLeft(queuePair));
      assertEquals(1, queueFiles());
      peer.process.destroyForcibly();
      await(device, sleeping, queuePair, () -> recorder.has(Opcode.DISCONNECT));
      // The socket may end a moment before the lock does.
      await(device, false, queuePair, () -> device.peerLeft(queuePair));
      queuePair.close();
      assertTrue(device.peerLeft(queuePair));
      assertEquals(0, device.strangers());
      assertEquals(0, queueFiles(), "the dead client's file is gone");
    }
  }

  @Test
  void readsGoOnAfterTheServerWasKilledAndWritesDoNot() throws Exception {
    Path file = directory.resolve("region");
    Peer peer = start("serve", served.toString(), file.toString());
    assertEquals("ready", peer.says());
    try (ShmDevice device = ShmDevice.open(ShmOptions.toConnect(System::nanoTime))) {
      QueuePair queuePair = device.connect(served.toString(), NOTHING, Duration.ofSeconds(20));
      await(device, true, queuePair, () -> recorder.has(Opcode.CONNECT));
      assertEquals(Status.SUCCESS, recorder.last().status());
      long key = ShmPeer.keyFromData(queuePair);
      MemorySegment local = arena.allocate(64, 8);
      MemoryRegion region = device.register(local, Backing.none(64), Access.LOCAL);
      queuePair.post(Work.write().id(1).local(region, 0, 8).remote(key, 64).signaled());
      await(device, false, queuePair, () -> recorder.has(Opcode.WRITE));
      assertEquals(Status.SUCCESS, recorder.last().status());
      peer.process.destroyForcibly();
      await(device, true, queuePair, () -> recorder.has(Opcode.DISCONNECT));
      readsOn(device, queuePair, region, key);
      queuePair.post(Work.write().id(2).local(region, 0, 8).remote(key, 64));
      queuePair.post(Work.send().id(3).local(region, 0, 8));
      await(device, false, queuePair, () -> recorder.has(Opcode.SEND));
      assertEquals(Status.FLUSHED, recorder.of(Opcode.WRITE).getLast().status());
      assertEquals(Status.FLUSHED, recorder.last().status());
      // A dead server's socket is there, and refuses at once.
      recorder.all.clear();
      assertTrue(peer.process.waitFor(20, TimeUnit.SECONDS));
      QueuePair refused = device.connect(served.toString(), NOTHING, Duration.ofSeconds(20));
      assertEquals(1, refused.poll(recorder, 1));
      assertEquals(Status.UNREACHABLE, recorder.last().status());
      refused.close();
      restart(device, queuePair, region, key);
    }
    assertEquals(0, queueFiles());
  }

  /**
   * A new server in the directory: the old queue pair reads on and is counted as a stranger until
   * it closes.
   */
  private void restart(ShmDevice device, QueuePair old, MemoryRegion region, long key)
      throws IOException {
    try (ShmDevice server = serve()) {
      assertEquals(1, server.strangers());
      MemorySegment bytes =
          ShmFixture.memoryFile(directory.resolve("other"), 4096, arena).segment();
      MemoryRegion fresh =
          server.register(
              bytes, new Backing(directory.resolve("other"), 0, 4096), Access.REMOTE_READ);
      assertNotEquals(key, fresh.remoteKey(), "keys are not reused over a restart");
      Listener listener = server.listen(served.toString());
      readsOn(device, old, region, key);
      old.post(Work.write().id(4).local(region, 0, 8).remote(key, 64));
      old.poll(recorder, 10);
      assertEquals(Status.FENCED, recorder.last().status());
      recorder.all.clear();
      QueuePair queuePair = device.connect(served.toString(), NOTHING, Duration.ofSeconds(20));
      QueuePair answer = request(server, listener).accept(NOTHING);
      await(device, false, queuePair, () -> recorder.has(Opcode.CONNECT));
      assertEquals(Status.SUCCESS, recorder.last().status());
      assertEquals(1, server.strangers());
      old.close();
      assertEquals(0, server.strangers());
      queuePair.close();
      answer.close();
      assertEquals(0, server.strangers());
    }
  }

  private void readsOn(ShmDevice device, QueuePair queuePair, MemoryRegion region, long key) {
    recorder.all.clear();
    for (int i = 0; i < 100; i++) {
      region.memory().set(QueueLayout.LONG, 8, 0);
      queuePair.post(Work.read().id(5).local(region, 8, 8).remote(key, 0).signaled());
      await(device, false, queuePair, () -> recorder.has(Opcode.READ));
      assertEquals(Status.SUCCESS, recorder.first(Opcode.READ).status());
      assertEquals(0x0303_0303_0303_0303L, region.memory().get(QueueLayout.LONG, 8));
      recorder.all.clear();
    }
  }

  @Test
  void aStoppedWriterIsFencedByTheServerThatClosed() throws Exception {
    try (ShmDevice device = serve()) {
      DeviceFixture.ServerMemory memory =
          ShmFixture.memoryFile(directory.resolve("region"), 4096, arena);
      MemoryRegion region =
          device.register(
              memory.segment(), memory.backing(), Access.REMOTE_READ | Access.REMOTE_WRITE);
      Listener listener = device.listen(served.toString());
      Peer peer = start("write", served.toString());
      QueuePair queuePair = request(device, listener).accept(ShmPeer.keyAsData(region.remoteKey()));
      assertEquals("success", peer.says());
      assertEquals("writing", peer.says());
      peer.stop();
      queuePair.close();
      assertFalse(device.peerLeft(queuePair), "it may be in the middle of a WRITE");
      assertEquals(1, device.strangers());
      peer.signal("CONT");
      assertEquals("write fenced, read fenced", peer.says());
      assertNotEquals(ShmPeer.MARKER, (long) QueueLayout.WORD.getAcquire(memory.segment(), 0L));
      assertTrue(peer.process.waitFor(20, TimeUnit.SECONDS));
      assertTrue(device.peerLeft(queuePair));
      assertEquals(0, device.strangers());
      assertEquals(0, queueFiles());
    }
  }

  @Test
  void aStoppedWriterIsFencedByTheNextServerAndReadsOn() throws Exception {
    Path file = directory.resolve("region");
    Peer killed = start("serve", served.toString(), file.toString());
    assertEquals("ready", killed.says());
    Peer writer = start("write", served.toString());
    assertEquals("success", writer.says());
    assertEquals("writing", writer.says());
    writer.stop();
    killed.process.destroyForcibly();
    assertTrue(killed.process.waitFor(20, TimeUnit.SECONDS));
    try (ShmDevice device = serve()) {
      assertEquals(1, device.strangers());
      writer.signal("CONT");
      assertEquals("write fenced, read success", writer.says());
      assertTrue(writer.process.waitFor(20, TimeUnit.SECONDS));
      assertEquals(0, device.strangers());
      MemorySegment bytes = MemorySegment.ofArray(Files.readAllBytes(file));
      assertNotEquals(ShmPeer.MARKER, bytes.get(QueueLayout.LONG.withByteAlignment(1), 0));
    }
    assertEquals(0, queueFiles());
  }

  private ShmDevice serve() throws IOException {
    return ShmDevice.open(ShmOptions.toServe(served, System::nanoTime));
  }

  private long queueFiles() throws IOException {
    try (var files = Files.list(served)) {
      return files.filter(file -> file.getFileName().toString().startsWith("queue-")).count();
    }
  }

  private static ConnectionRequest request(ShmDevice device, Listener listener) {
    long end = System.nanoTime() + PATIENCE_NS;
    while (System.nanoTime() - end < 0) {
      ConnectionRequest request = listener.poll();
      if (request != null) {
        return request;
      }
      device.await(100_000_000);
    }
    throw new AssertionError("no request");
  }

  private void await(
      ShmDevice device, boolean sleeping, QueuePair queuePair, BooleanSupplier condition) {
    long end = System.nanoTime() + PATIENCE_NS;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, () -> "did not come about; saw " + recorder.all);
      if (queuePair.poll(recorder, 16) == 0 && sleeping && queuePair.arm()) {
        device.await(PATIENCE_NS);
      }
      Thread.onSpinWait();
    }
  }

  private Peer start(String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                ShmPeer.class.getName()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    processes.add(process);
    return new Peer(
        process,
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)));
  }

  private record Peer(Process process, BufferedReader output) {
    /** The next line; the test's time limit bounds the wait. */
    String says() throws IOException {
      String line = output.readLine();
      assertNotNull(line, "the peer ended");
      while (line.equals("accepted")) {
        line = output.readLine();
      }
      return line;
    }

    void signal(String name) throws Exception {
      Process kill =
          new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start();
      assertEquals(0, kill.waitFor());
    }

    /** Returns when every thread has stopped: the signal alone takes its time on a busy machine. */
    void stop() throws Exception {
      signal("STOP");
      long end = System.nanoTime() + PATIENCE_NS;
      while (!isStopped()) {
        assertTrue(System.nanoTime() - end < 0, "not stopped");
        Thread.sleep(1);
      }
    }

    private boolean isStopped() throws IOException {
      try (var threads = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
        for (Path thread : threads.toList()) {
          String stat = Files.readString(thread.resolve("stat"));
          if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
            return false;
          }
        }
        return true;
      }
    }
  }
}
