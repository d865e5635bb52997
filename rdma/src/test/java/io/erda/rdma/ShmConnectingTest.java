package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import io.erda.rdma.shm.ShmSocket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A connection to a server that lives and can't be reached just now, because it has begun or is too
 * busy: it is tried again while the server has its lock, and no longer.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ShmConnectingTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final Duration PATIENCE = Duration.ofSeconds(50);

  /** Polls that span several attempts: the pause between two is 32 ms at most. */
  private static final long ATTEMPTS_NS = 100_000_000;

  @TempDir private Path directory;

  private final Recorder recorder = new Recorder();
  private ShmFixture fixture;
  private QueuePair requester;

  @BeforeEach
  void open() throws IOException {
    fixture = new ShmFixture(directory);
  }

  @AfterEach
  void close() {
    if (requester != null) {
      requester.close();
    }
    fixture.close();
  }

  private Path socket() {
    return Path.of(fixture.address()).resolve(ShmSocket.FILE);
  }

  private void beginToConnect() {
    requester = fixture.client().connect(fixture.address(), NOTHING, PATIENCE);
  }

  private void poll(long ns) {
    long began = System.nanoTime();
    while (System.nanoTime() - began < ns && recorder.all.isEmpty()) {
      requester.poll(recorder, 4);
      Thread.onSpinWait();
    }
  }

  private void assertUndecided() {
    poll(ATTEMPTS_NS);
    assertEquals(0, recorder.all.size(), () -> "decided: " + recorder.all);
  }

  private void assertConnects() throws IOException {
    try (Listener listener = fixture.server().listen(fixture.address())) {
      ConnectionRequest request = null;
      while (request == null) {
        request = listener.poll();
        requester.poll(recorder, 4);
      }
      QueuePair responder = request.accept(NOTHING);
      poll(PATIENCE.toNanos());
      assertEquals(Status.SUCCESS, recorder.last().status());
      requester.close();
      responder.close();
      requester = null;
    }
  }

  private void assertNobodyThere() {
    poll(PATIENCE.toNanos());
    assertEquals(Status.UNREACHABLE, recorder.last().status());
  }

  @Test
  void aServerThatHasNoSocketYetIsWaitedFor() throws IOException {
    beginToConnect();
    assertUndecided();
    assertConnects();
  }

  /** The next server makes its socket where a dead one left its own. */
  @Test
  void theSocketOfADeadServerSaysNothingOfTheOneThatHasBegun() throws IOException {
    try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      dead.bind(UnixDomainSocketAddress.of(socket()));
    }
    beginToConnect();
    assertUndecided();
    assertConnects();
  }

  @Test
  void aConnectionThatIsClosedWithoutAWordIsMadeAgain() throws IOException {
    try (ServerSocketChannel curt = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      curt.bind(UnixDomainSocketAddress.of(socket()));
      curt.configureBlocking(false);
      beginToConnect();
      for (int closed = 0; closed < 3; closed++) {
        var accepted = curt.accept();
        while (accepted == null) {
          requester.poll(recorder, 4);
          assertTrue(recorder.all.isEmpty(), () -> "decided: " + recorder.all);
          accepted = curt.accept();
        }
        accepted.close();
      }
    }
    assertUndecided();
    Files.delete(socket());
    assertConnects();
  }

  /** Nobody has the lock: that is final, whenever it is noticed. */
  @Test
  void aServerThatEndsMeanwhileIsNotWaitedFor() throws IOException {
    beginToConnect();
    assertUndecided();
    fixture.server().close();
    assertNobodyThere();
  }

  /** An application takes the place of the server that was waited for. */
  @Test
  void anApplicationThatTakesTheStoreMeanwhileIsTold() throws IOException {
    beginToConnect();
    assertUndecided();
    fixture.server().close();
    try (ShmDevice holder =
        ShmDevice.open(ShmOptions.toHold(Path.of(fixture.address()), System::nanoTime))) {
      assertEquals(0, holder.strangers(), "the one who connects has stored nothing");
      poll(PATIENCE.toNanos());
      assertEquals(Status.TAKEN, recorder.last().status());
    }
  }
}
