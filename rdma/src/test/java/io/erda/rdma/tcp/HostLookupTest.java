package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Found by a review: a name server that went silent kept every call of a client for ten seconds,
 * whatever its time-outs were, and of several addresses of a name only the first was tried.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class HostLookupTest {
  private static final String NAME = "db.example.org";
  private static final MemorySegment NOTHING = MemorySegment.NULL;
  private static final long SILENT_MS = 3_000;

  private final CountDownLatch answers = new CountDownLatch(1);
  private final AtomicInteger lookups = new AtomicInteger();
  private final AtomicReference<Thread> thread = new AtomicReference<>();

  /** A resolver that answers with addresses, but not before {@link #answers}. */
  private TcpClientDevice device(String... addresses) throws IOException {
    HostLookups slow =
        new HostLookups(host -> {
          thread.set(Thread.currentThread());
          lookups.incrementAndGet();
          silence();
          if (addresses.length == 0) {
            throw new UnknownHostException(host);
          }
          InetAddress[] all = new InetAddress[addresses.length];
          for (int i = 0; i < all.length; i++) {
            all[i] = InetAddress.ofLiteral(addresses[i]);
          }
          return all;
        });
    return TcpClientDevice.open(TcpOptions.of(System::nanoTime, new SecureRandom()), slow);
  }

  private void silence() {
    try {
      answers.await(SILENT_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError("nobody interrupts a lookup", e);
    }
  }

  /** Polls, and sleeps in between as clients do, until the attempt ends; returns its status. */
  private static int end(TcpClientDevice device, QueuePair queuePair) {
    int[] status = {-1};
    while (status[0] < 0) {
      queuePair.poll((id, opcode, of, length, immediate) -> status[0] = of, 1);
      if (status[0] < 0 && queuePair.arm()) {
        device.await(TimeUnit.SECONDS.toNanos(30));
      }
    }
    return status[0];
  }

  private static long ms(long sinceNs) {
    return (System.nanoTime() - sinceNs) / 1_000_000;
  }

  @Test
  void aSilentNameServerCostsNoCallMoreThanTheTimeOut() throws Exception {
    try (TcpClientDevice device = device("127.0.0.1")) {
      long began = System.nanoTime();
      QueuePair queuePair = device.connect(NAME + ":7411", NOTHING, Duration.ofMillis(300));
      queuePair.poll((id, opcode, status, length, immediate) -> {}, 1);
      assertTrue(queuePair.arm());
      assertTrue(ms(began) < 250, "connect and poll took " + ms(began) + " ms");
      assertEquals(Status.TIMEOUT, end(device, queuePair));
      assertTrue(ms(began) >= 300 && ms(began) < 1_500, ms(began) + " ms");
      assertEquals(
          "the name " + NAME + " could not be looked up within this time", queuePair.failure());
      queuePair.close();
      assertTrue(ms(began) < 1_500, ms(began) + " ms");
    }
  }

  @Test
  void clientsThatAskForOneNameShareOneLookupWhoseEndWakesThem() throws Exception {
    try (ServerSocket listening = new ServerSocket(0, 8, InetAddress.ofLiteral("127.0.0.1"));
        TcpClientDevice device = device("127.0.0.1")) {
      String address = NAME + ":" + listening.getLocalPort();
      for (int i = 0; i < 20; i++) {
        QueuePair givenUp = device.connect(address, NOTHING, Duration.ofMillis(1));
        assertEquals(Status.TIMEOUT, end(device, givenUp));
        givenUp.close();
      }
      QueuePair waiting = device.connect(address, NOTHING, Duration.ofSeconds(20));
      assertTrue(waiting.arm());
      assertEquals(1, lookups.get());
      Thread answering =
          Thread.ofPlatform()
              .start(() -> {
                LockSupport.parkNanos(200_000_000);
                answers.countDown();
              });
      long began = System.nanoTime();
      while (!thread.get().getState().equals(Thread.State.TERMINATED)) {
        assertTrue(device.await(TimeUnit.SECONDS.toNanos(10)));
        thread.get().join();
      }
      assertTrue(ms(began) < 2_500, "the end of the lookup woke nobody: " + ms(began) + " ms");
      assertTaken(listening, waiting);
      answering.join();
    }
  }

  @Test
  void theThreadOfALookupPinsNothingAndEndsWithIt() throws Exception {
    InheritableThreadLocal<Object> local = new InheritableThreadLocal<>();
    Thread current = Thread.currentThread();
    ClassLoader before = current.getContextClassLoader();
    ClassLoader ofApplication = new ClassLoader("application", before) {};
    current.setContextClassLoader(ofApplication);
    local.set(new Object());
    try (TcpClientDevice device = device()) {
      QueuePair queuePair = device.connect(NAME + ":7411", NOTHING, Duration.ofSeconds(20));
      while (thread.get() == null) {
        Thread.onSpinWait();
      }
      assertTrue(thread.get().isDaemon());
      assertSame(ClassLoader.getSystemClassLoader(), thread.get().getContextClassLoader());
      answers.countDown();
      assertEquals(Status.UNREACHABLE, end(device, queuePair));
      assertEquals("no host is known by the name " + NAME, queuePair.failure());
      thread.get().join();
      queuePair.close();
      end(device, device.connect(NAME + ":7411", NOTHING, Duration.ofSeconds(20)));
      assertEquals(2, lookups.get(), "a lookup that has ended is not used again");
    } finally {
      current.setContextClassLoader(before);
      local.remove();
    }
  }

  @Test
  void anAddressIsNotLookedUp() throws Exception {
    try (TcpClientDevice device = device()) {
      for (String address : new String[] {"127.0.0.1:1", "[::1]:1", "[fe80::1%lo]:1"}) {
        end(device, device.connect(address, NOTHING, Duration.ofMillis(200)));
      }
      QueuePair wrong = device.connect(NAME + ":x", NOTHING, Duration.ofSeconds(20));
      assertEquals(Status.UNREACHABLE, end(device, wrong));
      assertEquals("no port, 0 to 65535, in " + NAME + ":x", wrong.failure());
      assertEquals(0, lookups.get());
    }
  }

  @Test
  void eachAddressOfANameIsTried() throws Exception {
    answers.countDown();
    try (ServerSocket listening = new ServerSocket(0, 8, InetAddress.ofLiteral("127.0.0.1"));
        TcpClientDevice device = device("::1", "127.0.0.2", "127.0.0.1")) {
      String address = NAME + ":" + listening.getLocalPort();
      assertTaken(listening, device.connect(address, NOTHING, Duration.ofSeconds(20)));
    }
  }

  @Test
  void anAddressThatDoesNotAnswerLeavesTimeForTheOthers() throws Exception {
    answers.countDown();
    InetAddress silentHost = InetAddress.ofLiteral("127.0.0.2");
    try (ServerSocket listening = new ServerSocket(0, 8, InetAddress.ofLiteral("127.0.0.1"));
        ServerSocket silent = new ServerSocket(listening.getLocalPort(), 1, silentHost);
        TcpClientDevice device = device("127.0.0.2", "127.0.0.1")) {
      // The kernel drops requests to connect when the queue of a listener is full.
      List<SocketChannel> filling = new ArrayList<>();
      try {
        for (int i = 0; i < 4; i++) {
          SocketChannel one = SocketChannel.open();
          filling.add(one);
          one.configureBlocking(false);
          one.connect(new InetSocketAddress(silentHost, silent.getLocalPort()));
        }
        String address = NAME + ":" + listening.getLocalPort();
        assertTaken(listening, device.connect(address, NOTHING, Duration.ofSeconds(2)));
      } finally {
        for (SocketChannel each : filling) {
          each.close();
        }
      }
    }
  }

  /** Asserts that an attempt reaches a listener before the attempt has ended. */
  private static void assertTaken(ServerSocket listening, QueuePair attempt) throws IOException {
    listening.setSoTimeout(1);
    while (true) {
      int[] status = {-1};
      attempt.poll((id, opcode, of, length, immediate) -> status[0] = of, 1);
      try {
        listening.accept().close();
        return;
      } catch (SocketTimeoutException e) {
        assertFalse(status[0] >= 0, "ended with " + Status.name(Math.max(0, status[0])));
      }
    }
  }
}
