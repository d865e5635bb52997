package io.erda.rdma.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.DeviceContract;
import io.erda.rdma.DeviceFixture;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.Recorder;
import io.erda.rdma.ShmFixture;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import io.erda.rdma.rings.QueueLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** {@link DeviceContract} for the shm device, and what this device promises beyond it. */
final class ShmDeviceTest extends DeviceContract {
  @Override
  protected DeviceFixture open(Path emptyDirectory) throws IOException {
    return new ShmFixture(emptyDirectory);
  }

  private ShmDevice shmServer() {
    return (ShmDevice) server;
  }

  private ShmDevice serveAgain() throws IOException {
    return ShmDevice.open(ShmOptions.toServe(Path.of(fixture.address()), System::nanoTime));
  }

  @Override
  protected boolean readsInTheCall() {
    return true;
  }

  /**
   * Found by a tester, who made reads of sockets fail: {@code connect} threw a
   * NullPointerException.
   */
  @Test
  void aClientWhoseSocketFailsWhenItIsAcceptedIsTurnedAway() throws IOException {
    requester = client.connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
    responder = nextRequest().accept(NOTHING);
    // Longer than the pause before the client would take another socket.
    LockSupport.parkNanos(50_000_000);
    ((ShmQueuePair) requester).socket.channel().shutdownInput();
    until(() -> atClient.has(Opcode.CONNECT));
    assertEquals(Status.TURNED_AWAY, atClient.last().status());
    assertEquals("its socket failed when it had just been accepted", requester.failure());
  }

  @Test
  void oneServerToADirectory() {
    IOException e = assertThrows(IOException.class, this::serveAgain);
    assertTrue(e.getMessage().contains("another server is running"), e.getMessage());
    assertThrows(IOException.class, () -> server.listen(fixture.address()), "one listener");
    assertThrows(IOException.class, () -> client.listen(fixture.address()), "no directory");
  }

  @Test
  void aClosedDeviceFreesItsDirectory() throws IOException {
    MemoryRegion first = register(64, Access.REMOTE_READ);
    server.close();
    try (ShmDevice next = serveAgain()) {
      next.listen(fixture.address());
      DeviceFixture.ServerMemory memory = fixture.serverMemory(64);
      long key = next.register(memory.segment(), memory.backing(), Access.REMOTE_READ).remoteKey();
      assertTrue(key >>> 16 > first.remoteKey() >>> 16, "key sequences grow over a restart");
    }
  }

  /** "No server is there" would send its reader looking in the wrong place. */
  @Test
  void aDirectoryThatMayNotBeLookedAtIsToldFromOneWithoutServer() throws IOException {
    Path closed = Files.createDirectory(directory.resolve("closed"));
    Files.setPosixFilePermissions(closed, Set.of());
    try {
      Assumptions.assumeFalse(Files.isExecutable(closed), "root may look everywhere");
      requester = client.connect(closed.toString(), NOTHING, Duration.ofSeconds(20));
      until(() -> atClient.has(Opcode.CONNECT));
      assertEquals(Status.DENIED, atClient.last().status());
    } finally {
      Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
    }
  }

  @Test
  void aDeepDirectoryIsNoObstacle() throws IOException {
    Path deep = directory.resolve("a".repeat(90)).resolve("b".repeat(90));
    try (ShmDevice other = ShmDevice.open(ShmOptions.toServe(deep, System::nanoTime))) {
      listener = other.listen(deep.toString());
      requester = client.connect(deep.toString(), bytes("deep"), Duration.ofSeconds(20));
      responder = nextRequest().accept(NOTHING);
      until(() -> atClient.has(Opcode.CONNECT));
      assertEquals(Status.SUCCESS, atClient.last().status());
    }
  }

  /** As a server leaves it that was killed. */
  @Test
  void aDeadServersSocketRefusesAtOnceAndIsReplaced() throws IOException {
    Path socket = Path.of(fixture.address()).resolve("socket");
    Path kept = directory.resolve("kept");
    Files.createLink(kept, socket);
    server.close();
    Files.move(kept, socket, StandardCopyOption.ATOMIC_MOVE);
    requester = client.connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
    assertEquals(1, requester.poll(atClient, 4), "at once");
    assertEquals(Status.UNREACHABLE, atClient.last().status());
    try (ShmDevice next = serveAgain()) {
      listener = next.listen(fixture.address());
      atClient.all.clear();
      connect();
      requester.close();
      responder.close();
      requester = null;
      responder = null;
    }
  }

  @Test
  void aConnectionThatFindsTheBacklogFullIsMadeLater() throws IOException {
    List<SocketChannel> crowd = new ArrayList<>();
    SocketAddress address =
        UnixDomainSocketAddress.of(Path.of(fixture.address()).resolve("socket"));
    try {
      for (boolean full = false; !full; ) {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        crowd.add(channel);
        channel.configureBlocking(false);
        try {
          channel.connect(address);
        } catch (SocketException e) {
          full = true;
        }
        assertTrue(crowd.size() < 10_000);
      }
      requester = client.connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
      steps(10);
      assertTrue(atClient.all.isEmpty());
    } finally {
      for (SocketChannel channel : crowd) {
        channel.close();
      }
    }
    responder = nextRequest().accept(NOTHING);
    until(() -> atClient.has(Opcode.CONNECT));
    assertEquals(Status.SUCCESS, atClient.last().status());
  }

  @Test
  void aClosedDeviceLetsItsClientsReadOn() {
    connect();
    MemoryRegion region = register(64, Access.REMOTE_READ | Access.REMOTE_WRITE);
    region.memory().fill((byte) 4);
    responder = null;
    server.close();
    until(() -> atClient.has(Opcode.DISCONNECT));
    requester.post(read(1, region.remoteKey(), 0, 8));
    clientCompletes(1, Opcode.READ, Status.SUCCESS);
    assertEquals(0x0404_0404_0404_0404L, clientMemory.get(QueueLayout.LONG, 0));
    requester.post(Work.write().id(2).local(clientRegion, 0, 8).remote(region.remoteKey(), 0));
    clientCompletes(2, Opcode.WRITE, Status.FENCED);
  }

  /**
   * As servers and clients sleep: arm, poll once more, then wait. Now and then a poll looks after
   * its peer, and takes what rang the bell; what rang it must not be asleep in the ring then.
   */
  @Test
  void aMessageThatRingsDuringTheLastPollIsNotSleptOver() throws IOException {
    server.close();
    boolean[] sends = new boolean[1];
    long[] ns = {System.nanoTime()};
    MemoryRegion[] message = new MemoryRegion[1];
    LongSupplier clock =
        () -> {
          if (sends[0]) {
            sends[0] = false;
            requester.post(Work.send().id(1).local(message[0], 0, 8));
          }
          ns[0] += 10_000_000;
          return ns[0];
        };
    try (ShmDevice sleepy = ShmDevice.open(ShmOptions.toServe(Path.of(fixture.address()), clock))) {
      listener = sleepy.listen(fixture.address());
      requester = client.connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
      responder = nextRequest().accept(NOTHING);
      until(() -> atClient.has(Opcode.CONNECT));
      message[0] = client.register(fixture.clientMemory(64), Backing.none(64), Access.LOCAL);
      MemoryRegion into = sleepy.register(fixture.clientMemory(64), Backing.none(64), Access.LOCAL);
      responder.postReceive(2, into, 0, 64);
      sends[0] = true;
      int received = 0;
      while (sends[0]) {
        assertTrue(responder.arm());
        received = responder.poll(atServer, 4);
      }
      assertTrue(received > 0 || sleepy.await(1_000_000_000), "slept over a message");
      requester.close();
      requester = null;
      responder.close();
      responder = null;
      listener = null;
    }
  }

  /** The woken thread leaves the wake-up in the socket; it is taken before the next sleep. */
  @Test
  void whoWasWokenSleepsUntilTheNextRing() {
    connect();
    MemoryRegion message =
        client.register(fixture.clientMemory(64), Backing.none(64), Access.LOCAL);
    MemoryRegion into = server.register(fixture.clientMemory(64), Backing.none(64), Access.LOCAL);
    for (int round = 0; round < 3; round++) {
      responder.postReceive(2, into, 0, 64);
      assertTrue(responder.arm());
      assertFalse(server.await(20_000_000), "woken by nobody in round " + round);
      requester.post(Work.send().id(1).local(message, 0, 8));
      assertTrue(server.await(5_000_000_000L), "slept over a message in round " + round);
      assertEquals(1, responder.poll(atServer, 4));
    }
  }

  /**
   * The kernel may refuse to watch a socket, for which the JDK has no error: epoll_ctl(2) with
   * ENOMEM or ENOSPC. Each message was slept over then, for as long as the thread meant to sleep.
   */
  @Test
  void messagesOfASocketThatIsNotWatchedAreNotSleptOverForLong() {
    connect();
    MemoryRegion message =
        client.register(fixture.clientMemory(64), Backing.none(64), Access.LOCAL);
    MemoryRegion into = server.register(fixture.clientMemory(64), Backing.none(64), Access.LOCAL);
    shmServer().unwatch(((ShmQueuePair) responder).socket.channel());
    for (int round = 0; round < 5; round++) {
      responder.postReceive(2, into, 0, 64);
      assertTrue(responder.arm());
      requester.post(Work.send().id(1).local(message, 0, 8));
      long mostNs = round < 3 ? 600_000_000L : 20_000_000_000L;
      long beganNs = System.nanoTime();
      assertTrue(server.await(mostNs), "slept over a message in round " + round);
      assertTrue(
          round < 3 || System.nanoTime() - beganNs < mostNs / 2, "slept long in round " + round);
      assertEquals(1, responder.poll(atServer, 4));
    }
  }

  /**
   * The clock is looked at between the stores of a WRITE and its completion; that is when the
   * server closes.
   */
  @Test
  void aWriteDuringWhichTheServerClosesIsFenced() throws IOException {
    boolean[] closes = new boolean[1];
    LongSupplier clock =
        () -> {
          if (closes[0]) {
            responder.close();
          }
          return System.nanoTime();
        };
    try (ShmDevice slow = ShmDevice.open(ShmOptions.toConnect(clock).withWrites(false, 1000))) {
      MemorySegment memory = fixture.clientMemory(64);
      MemoryRegion local = slow.register(memory, Backing.none(64), Access.LOCAL);
      MemoryRegion region = register(64, Access.REMOTE_WRITE);
      requester = slow.connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
      responder = nextRequest().accept(NOTHING);
      until(() -> atClient.has(Opcode.CONNECT));
      requester.post(
          Work.write().id(1).local(local, 0, 8).remote(region.remoteKey(), 0).signaled());
      clientCompletes(1, Opcode.WRITE, Status.SUCCESS);
      closes[0] = true;
      requester.post(Work.write().id(2).local(local, 0, 8).remote(region.remoteKey(), 0));
      closes[0] = false;
      requester.poll(atClient, 1);
      assertEquals(new Recorder.Completion(2, Opcode.WRITE, Status.FENCED, 0, 0), atClient.last());
      responder = null;
      requester.close();
      requester = null;
    }
  }

  /** Tests the same for a key that is revoked. */
  @Test
  void aWriteDuringWhichTheKeyIsRevokedFails() throws IOException {
    MemoryRegion region = register(64, Access.REMOTE_WRITE);
    boolean[] revokes = new boolean[1];
    LongSupplier clock =
        () -> {
          if (revokes[0]) {
            server.deregister(region);
          }
          return System.nanoTime();
        };
    try (ShmDevice slow = ShmDevice.open(ShmOptions.toConnect(clock).withWrites(false, 1000))) {
      MemoryRegion local = slow.register(fixture.clientMemory(64), Backing.none(64), Access.LOCAL);
      requester = slow.connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
      responder = nextRequest().accept(NOTHING);
      until(() -> atClient.has(Opcode.CONNECT));
      revokes[0] = true;
      requester.post(Work.write().id(2).local(local, 0, 8).remote(region.remoteKey(), 0));
      revokes[0] = false;
      clientCompletes(2, Opcode.WRITE, Status.REMOTE_ACCESS);
      requester.close();
      requester = null;
    }
  }

  @Test
  void readsOfAClosedQueuePairAreFenced() {
    connect();
    MemoryRegion region = register(64, Access.REMOTE_READ);
    requester.post(read(1, region.remoteKey(), 0, 8));
    responder.close();
    responder = null;
    clientCompletes(1, Opcode.READ, Status.SUCCESS);
    requester.post(Work.read().id(2).local(clientRegion, 0, 8).remote(region.remoteKey(), 0));
    requester.poll(atClient, 1);
    assertEquals(Status.FENCED, atClient.last().status());
  }

  @Test
  void aRegionIsMappedReadOnlyUntilTheFirstWrite() throws IOException {
    connect();
    MemoryRegion region = register(1 << 16, Access.REMOTE_READ | Access.REMOTE_WRITE);
    String file = "memory-1";
    assertEquals(0, mappings(file, "r--s"));
    requester.post(read(1, region.remoteKey(), 0, 8));
    clientCompletes(1, Opcode.READ, Status.SUCCESS);
    assertEquals(1, mappings(file, "r--s"));
    requester.post(write(2, region.remoteKey(), 0, 8));
    clientCompletes(2, Opcode.WRITE, Status.SUCCESS);
    assertEquals(2, mappings(file, "rw-s"), "the server's and the client's");
    requester.close();
    requester = null;
    assertEquals(0, mappings(file, "r--s"), "the client's first one");
    assertEquals(1, mappings(file, "rw-s"), "the server's");
  }

  private static long mappings(String file, String rights) throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream()
        .filter(line -> line.endsWith("/" + file) && line.contains(" " + rights + " "))
        .count();
  }

  @Test
  void aFileThatIsNotTheRegisteredOneIsNotMapped() throws IOException {
    connect();
    DeviceFixture.ServerMemory memory = fixture.serverMemory(4096);
    MemoryRegion region =
        server.register(
            memory.segment(), memory.backing(), Access.REMOTE_READ | Access.REMOTE_WRITE);
    Path file = memory.backing().file();
    // Shorter: a load past its end would kill the process.
    Path elsewhere = directory.resolve("elsewhere");
    Files.move(file, elsewhere);
    requester.post(Work.read().id(1).local(clientRegion, 0, 8).remote(region.remoteKey(), 0));
    clientCompletes(1, Opcode.READ, Status.REMOTE_ACCESS);
    Files.write(file, new byte[4096]);
    requester.post(Work.read().id(2).local(clientRegion, 0, 8).remote(region.remoteKey(), 0));
    clientCompletes(2, Opcode.READ, Status.REMOTE_ACCESS);
    Files.write(file, new byte[4095]);
    requester.post(Work.read().id(3).local(clientRegion, 0, 8).remote(region.remoteKey(), 0));
    clientCompletes(3, Opcode.READ, Status.REMOTE_ACCESS);
    requester.post(Work.write().id(5).local(clientRegion, 0, 8).remote(region.remoteKey(), 0));
    clientCompletes(5, Opcode.WRITE, Status.REMOTE_ACCESS);
    assertEquals(4095, Files.size(file), "a mapping to write must not extend it");
    Files.move(elsewhere, file, StandardCopyOption.ATOMIC_MOVE);
    requester.post(read(4, region.remoteKey(), 0, 8));
    clientCompletes(4, Opcode.READ, Status.SUCCESS);
  }

  @Test
  void aRegionForPeersNeedsAFile() {
    MemorySegment memory = fixture.clientMemory(64);
    assertThrows(
        IllegalArgumentException.class,
        () -> server.register(memory, Backing.none(64), Access.REMOTE_READ));
    assertThrows(
        IllegalArgumentException.class,
        () -> client.register(memory, Backing.none(64), Access.REMOTE_READ));
  }

  @Test
  void writesAreComparedWhereThatIsAsked() throws IOException {
    try (ShmDevice counting =
        ShmDevice.open(ShmOptions.toConnect(System::nanoTime).withWrites(true, 100))) {
      MemorySegment memory = fixture.clientMemory(64);
      MemoryRegion local = counting.register(memory, Backing.none(64), Access.LOCAL);
      MemoryRegion region = register(64, Access.REMOTE_WRITE);
      requester = counting.connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
      responder = nextRequest().accept(NOTHING);
      until(() -> atClient.has(Opcode.CONNECT));
      memory.set(QueueLayout.LONG, 0, 0x0001_0002);
      requester.post(
          Work.write().id(1).local(local, 0, 64).remote(region.remoteKey(), 0).signaled());
      clientCompletes(1, Opcode.WRITE, Status.SUCCESS);
      requester.post(
          Work.write().id(2).local(local, 0, 64).remote(region.remoteKey(), 0).signaled());
      clientCompletes(2, Opcode.WRITE, Status.SUCCESS);
      requester.post(
          Work.atomicWrite().id(3).remote(region.remoteKey(), 0).value(0x0001_0003).signaled());
      clientCompletes(3, Opcode.ATOMIC_WRITE, Status.SUCCESS);
      assertEquals(3, server.statistics().bytesDiffering());
      assertEquals(136, server.statistics().bytesWritten());
      requester.close();
      requester = null;
    }
  }

  @Test
  void leftoversAreSweptAndQueueFilesGoWithTheirConnections() throws IOException {
    connect();
    assertEquals(1, queueFiles());
    requester.close();
    requester = null;
    assertEquals(0, queueFiles());
    assertTrue(shmServer().peerLeft(responder));
    server.close();
    responder = null;
    Path served = Path.of(fixture.address());
    Files.write(served.resolve("queue-1-0"), new byte[(int) QueueLayout.BYTES]);
    Files.write(served.resolve("queue-2-0"), new byte[0]);
    try (ShmDevice next = serveAgain()) {
      assertEquals(0, queueFiles());
      assertEquals(0, next.strangers());
    }
  }

  /** Processes in containers may have one ID and one name: the server's look may come late. */
  @Test
  void anotherPeersQueueFileOfTheSameNameStays() throws IOException {
    connect();
    Path file;
    try (Stream<Path> files = Files.list(Path.of(fixture.address()))) {
      file =
          files
              .filter(each -> QueueFile.isName(each.getFileName().toString()))
              .findAny()
              .orElseThrow();
    }
    requester.close();
    requester = null;
    Files.write(file, new byte[16]);
    assertTrue(shmServer().peerLeft(responder));
    assertTrue(Files.exists(file), "another's file was removed");
    Files.delete(file);
    responder.close();
    responder = null;
  }

  @Test
  void whoClosedIsAskedForUntilThePeerLeft() {
    connect();
    assertFalse(shmServer().peerLeft(responder));
    responder.close();
    assertFalse(shmServer().peerLeft(responder));
    assertEquals(1, shmServer().strangers());
    requester.close();
    assertEquals(0, shmServer().strangers());
    assertTrue(shmServer().peerLeft(responder));
    assertThrows(IllegalArgumentException.class, () -> shmServer().peerLeft(requester));
    requester = null;
    responder = null;
  }

  private long queueFiles() throws IOException {
    try (var files = Files.list(Path.of(fixture.address()))) {
      return files.filter(file -> file.getFileName().toString().startsWith("queue-")).count();
    }
  }
}
