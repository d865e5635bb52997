package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.fuzz.Fuzz;
import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.DeviceFixture;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Recorder;
import io.erda.rdma.Work;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Frames that a peer may have made up, at either end, most of them with the checksums that fit. The
 * connection ends, or goes on; nothing is stored where it was not granted, and nothing is thrown.
 */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
final class TcpFuzzTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final int REGION = 4096;
  private static final long HEAP_MAX = 4 << 20;
  private static final byte[] ZEROS = new byte[Hello.NONCE_BYTES];

  /** A server's side of a handshake and of requests. */
  @Test
  void whatARequesterSends() throws IOException {
    try (TcpFixture fixture = new TcpFixture()) {
      Listener listener = fixture.server().listen(fixture.address());
      MemoryRegion readable = region(fixture, Access.REMOTE_READ);
      MemoryRegion writable = region(fixture, Access.REMOTE_READ | Access.REMOTE_WRITE);
      MemoryRegion atomic = region(fixture, Access.REMOTE_ATOMIC);
      MemorySegment own = fixture.serverMemory(1 << 16).segment();
      MemoryRegion buffers =
          fixture.server().register(own, Backing.none(own.byteSize()), Access.LOCAL);
      long grantedKey = 1L << 62 | 1 << 16;
      byte[] greeting =
          RawPeer.join(
              RawPeer.hello(false, ZEROS),
              RawPeer.request(Frame.CONNECT, 0, new byte[Hello.PROOF_BYTES + 8]));
      byte[] requests =
          RawPeer.join(
              greeting,
              RawPeer.request(Frame.READ, 0, RawPeer.words(readable.remoteKey(), 8, 3000)),
              RawPeer.request(
                  Frame.READ,
                  0,
                  RawPeer.words(readable.remoteKey(), 8, 3, readable.remoteKey(), 64, 1500)),
              RawPeer.write(Frame.ACK, grantedKey, 1024, new byte[64]),
              RawPeer.write(Frame.MORE, writable.remoteKey(), 0, new byte[32]),
              RawPeer.write(Frame.IMM, writable.remoteKey(), 32, new byte[8]),
              RawPeer.request(
                  Frame.COMPARE_AND_SWAP, 0, RawPeer.words(atomic.remoteKey(), 8, 1, 0)),
              RawPeer.request(Frame.ATOMIC_WRITE, 0, RawPeer.words(writable.remoteKey(), 8, 1)),
              RawPeer.request(Frame.FLUSH, Frame.ACK, RawPeer.words(writable.remoteKey(), 0, 64)),
              RawPeer.request(Frame.SEND, Frame.ACK, new byte[100]),
              RawPeer.request(Frame.CREDIT, 0),
              RawPeer.request(Frame.WITHDRAW, 0));
      Fuzz.run(
          TcpFuzzTest.class,
          List.of(requests, greeting, RawPeer.hello(true, ZEROS)),
          HEAP_MAX,
          (made, random) -> {
            byte[] input = random.nextInt(8) > 0 ? RawPeer.sealed(made) : made;
            try (RawPeer peer = new RawPeer(fixture.address())) {
              int cut = random.nextInt(input.length + 1);
              try {
                // In two parts, so that frames come in halves too.
                peer.send(Arrays.copyOf(input, cut));
                peer.send(Arrays.copyOfRange(input, cut, input.length));
                peer.endWithin(1);
                peer.isEnded();
              } catch (IOException e) {
                // It ended while it was being sent to.
              }
              for (ConnectionRequest next = listener.poll(); next != null; next = listener.poll()) {
                QueuePair end = next.accept(NOTHING);
                assertEquals(grantedKey, end.grant(readable, 1024, 64));
                for (int i = 0; i < 4; i++) {
                  end.postReceive(i, buffers, i * 16_384L, 16_384);
                }
                peer.isEnded();
                end.poll((wrId, opcode, status, byteLength, imm) -> {}, 16);
                end.close();
              }
            }
            assertUntouchedBut(readable.memory(), 1024, 64);
          });
      assertServes(fixture, listener, readable);
    }
  }

  private static MemoryRegion region(TcpFixture fixture, int access) {
    DeviceFixture.ServerMemory memory = fixture.serverMemory(REGION);
    return fixture.server().register(memory.segment(), memory.backing(), access);
  }

  private static void assertUntouchedBut(MemorySegment memory, long from, long length) {
    for (long at = 0; at < REGION; at += 8) {
      if (at < from || at >= from + length) {
        assertEquals(0, memory.get(ValueLayout.JAVA_LONG, at), "at " + at);
      }
    }
  }

  private static void assertServes(TcpFixture fixture, Listener listener, MemoryRegion readable) {
    Recorder seen = new Recorder();
    MemorySegment memory = fixture.clientMemory(64);
    MemoryRegion local = fixture.client().register(memory, Backing.none(64), Access.LOCAL);
    QueuePair client = fixture.client().connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
    while (!seen.has(Opcode.CONNECT)) {
      ConnectionRequest next = listener.poll();
      if (next != null) {
        next.accept(NOTHING);
      }
      client.poll(seen, 8);
    }
    client.post(Work.read().id(1).local(local, 0, 64).remote(readable.remoteKey(), 0).signaled());
    while (!seen.has(Opcode.READ)) {
      client.poll(seen, 8);
    }
    assertEquals(0, seen.first(Opcode.READ).status());
  }

  /** A client's side of a handshake and of answers. */
  @Test
  void whatAResponderSends() throws IOException {
    TcpOptions options = TcpOptions.of(System::nanoTime, new SecureRandom());
    try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        TcpFixture memories = new TcpFixture();
        TcpClientDevice device = TcpClientDevice.open(options)) {
      String address = "127.0.0.1:" + server.getLocalPort();
      MemorySegment own = memories.clientMemory(3 << 15);
      MemoryRegion local = device.register(own, Backing.none(own.byteSize()), Access.LOCAL);
      byte[] greeting =
          RawPeer.join(
              RawPeer.hello(false, ZEROS),
              RawPeer.request(Frame.ACCEPT, 0, new byte[Hello.PROOF_BYTES + 16]));
      byte[] answers =
          RawPeer.join(
              greeting,
              RawPeer.frame(Frame.MESSAGE, 0, 0, 0, 0, new byte[40]),
              RawPeer.frame(Frame.DATA, 0, 0, 0, 0, new byte[1000]),
              RawPeer.frame(Frame.DATA, Frame.LAST, 0, 3, 0, new byte[3000 + 16 + 5]),
              RawPeer.frame(Frame.DATA, Frame.LAST, 0, 4, 0, new byte[8]),
              RawPeer.frame(Frame.DONE, 0, 2, 5, 0),
              RawPeer.frame(Frame.DONE, 0, 0, 6, 72),
              RawPeer.frame(Frame.WITHDRAWN, 0, 0, 6, 72, RawPeer.words(1, 0)));
      Fuzz.run(
          TcpFuzzTest.class,
          List.of(answers, greeting, RawPeer.hello(true, ZEROS)),
          HEAP_MAX,
          (made, random) -> {
            byte[] input = random.nextInt(8) > 0 ? RawPeer.sealed(made) : made;
            QueuePair client = device.connect(address, NOTHING, Duration.ofSeconds(20));
            Recorder seen = new Recorder();
            try (Socket there = server.accept()) {
              there.setTcpNoDelay(true);
              OutputStream out = there.getOutputStream();
              int cut = Math.min(input.length, greeting.length);
              out.write(input, 0, cut);
              for (int i = 0; i < 100 && !seen.has(Opcode.CONNECT); i++) {
                client.poll(seen, 8);
              }
              client.postReceive(1, local, 0, 64);
              client.post(Work.read().id(2).local(local, 64, 4000).remote(7, 0).signaled());
              client.post(Work.read().id(6).local(local, 4096, 9).remote(7, 0).signaled());
              client.post(Work.read().id(7).local(local, 4112, 5).remote(7, 0).signaled());
              client.post(
                  Work.compareAndSwap()
                      .id(3)
                      .local(local, 8192, Long.BYTES)
                      .remote(7, 0)
                      .expected(0)
                      .value(1)
                      .signaled());
              client.post(Work.write().id(4).local(local, 0, 100).remote(7, 0).signaled());
              client.post(Work.send().id(5).local(local, 0, 64).signaled());
              client.poll(seen, 8);
              if (random.nextBoolean()) {
                client.claims().withdraw();
              }
              out.write(input, cut, input.length - cut);
            } catch (IOException e) {
              // The client ended while it was being sent to.
            }
            own.asSlice(1 << 15).fill((byte) 3);
            for (int i = 0; i < 20; i++) {
              client.poll(seen, 8);
            }
            client.close();
            assertTrue(
                own.asSlice(1 << 15).asByteBuffer().get(100) == 3, "stored behind the buffers");
          });
    }
  }
}
