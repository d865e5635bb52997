package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.libc.Libc;
import io.erda.rdma.shm.ShmListener;
import io.erda.rdma.shm.ShmSocket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests how many of the server's sockets and descriptors a user other than the server's can occupy.
 * The server is configured to run as another user, so that this process is the other user.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ShmSharesTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  /** Four times as many as may wait for their HELLO, five seconds each. */
  private static final int SILENT = 1000;

  private static final Duration BEFORE_THEY_TIME_OUT = Duration.ofSeconds(4);

  @TempDir private Path directory;

  private final Recorder recorder = new Recorder();

  private static Listener listenAsAnotherUser(ShmFixture fixture) throws IOException {
    UserPrincipal another = ShmSocket.user(Libc.effectiveUser() == 1 ? 2 : 1);
    return fixture.server().listenAs(another, fixture.address());
  }

  /** The client's end, when the server has answered or has closed the socket. */
  private QueuePair connect(ShmFixture fixture, Listener listener, List<QueuePair> accepted) {
    QueuePair queuePair =
        fixture.client().connect(fixture.address(), NOTHING, BEFORE_THEY_TIME_OUT);
    while (queuePair.poll(recorder, 1) == 0) {
      ConnectionRequest request = listener.poll();
      if (request != null) {
        accepted.add(request.accept(NOTHING));
      }
      fixture.server().await(0);
      fixture.client().await(0);
    }
    return queuePair;
  }

  @Test
  void whoSaysNothingKeepsNobodyOut() throws IOException {
    List<SocketChannel> silent = new ArrayList<>();
    try (ShmFixture fixture = new ShmFixture(directory)) {
      Listener listener = listenAsAnotherUser(fixture);
      for (int i = 0; i < SILENT; i++) {
        SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
        silent.add(socket);
        socket.connect(UnixDomainSocketAddress.of(directory.resolve("shm/socket")));
      }
      connect(fixture, listener, new ArrayList<>()).close();
      assertEquals(Status.SUCCESS, recorder.last().status());
    } finally {
      for (SocketChannel socket : silent) {
        socket.close();
      }
    }
  }

  @Test
  void whoHoldsOnToConnectionsThatEndedGetsNoMore() throws IOException {
    try (ShmFixture fixture = new ShmFixture(directory)) {
      Listener listener = listenAsAnotherUser(fixture);
      List<QueuePair> held = new ArrayList<>();
      List<QueuePair> accepted = new ArrayList<>();
      for (int i = 0; i < ShmListener.DEPARTING_MAX; i++) {
        held.add(connect(fixture, listener, accepted));
        assertEquals(Status.SUCCESS, recorder.last().status(), "connection " + i);
        accepted.removeLast().close();
      }
      assertEquals(ShmListener.DEPARTING_MAX, fixture.server().strangers());
      connect(fixture, listener, accepted).close();
      assertEquals(Status.TIMEOUT, recorder.last().status(), "a server that lives may let it in");
      assertTrue(accepted.isEmpty());
      held.removeFirst().close();
      held.add(connect(fixture, listener, accepted));
      assertEquals(Status.SUCCESS, recorder.last().status(), "one has left");
      held.forEach(QueuePair::close);
    }
  }

  /** Clients of the server's own user are not counted: half of the machine may be theirs. */
  @Test
  void theServersOwnUserMayHoldOnToAsManyAsItLikes() throws IOException {
    try (ShmFixture fixture = new ShmFixture(directory)) {
      Listener listener = fixture.server().listen(fixture.address());
      List<QueuePair> held = new ArrayList<>();
      List<QueuePair> accepted = new ArrayList<>();
      for (int i = 0; i <= ShmListener.DEPARTING_MAX; i++) {
        held.add(connect(fixture, listener, accepted));
        assertEquals(Status.SUCCESS, recorder.last().status(), "connection " + i);
        accepted.removeLast().close();
      }
      held.forEach(QueuePair::close);
    }
  }
}
