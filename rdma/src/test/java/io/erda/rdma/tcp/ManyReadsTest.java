package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.DeviceFixture;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Recorder;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** READs share frames, and so do their answers. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ManyReadsTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final int REGION = 1 << 16;

  private final byte[] content = new byte[REGION];

  @BeforeEach
  void fillContent() {
    new Random(1).nextBytes(content);
  }

  private MemoryRegion readable(TcpFixture fixture) {
    DeviceFixture.ServerMemory memory = fixture.serverMemory(REGION);
    memory.segment().copyFrom(MemorySegment.ofArray(content));
    return fixture
        .server()
        .register(memory.segment(), memory.backing(), Access.REMOTE_READ | Access.REMOTE_WRITE);
  }

  /** Returns a frame of READs. Each has a key, an offset and a length. */
  private static byte[] reads(long... targets) {
    return RawPeer.request(Frame.READ, 0, RawPeer.words(targets));
  }

  private byte[] content(int from, int to) {
    return Arrays.copyOfRange(content, from, to);
  }

  private static byte[] data(int flags, long ended, byte[]... parts) {
    return RawPeer.frame(Frame.DATA, flags, 0, ended, 0, RawPeer.join(parts));
  }

  // The responder.

  @Test
  void readsOfOneFrameAreAnsweredInOneFrame() throws IOException {
    try (TcpFixture fixture = new TcpFixture();
        Listener listener = fixture.server().listen(fixture.address());
        RawPeer peer = new RawPeer(fixture.address())) {
      long key = readable(fixture).remoteKey();
      QueuePair end = peer.connect(listener);
      peer.send(reads(key, 0, 24, key, 64, 9, key, 100, 0, key, 120, 3));
      byte[] padded = Arrays.copyOf(content(64, 73), 16);
      assertArrayEquals(
          data(Frame.LAST, 4, content(0, 24), padded, content(120, 123)), peer.receiveFrame());
      end.close();
    }
  }

  @Test
  void aReadThatFailsEndsAloneAmongTheOthersOfItsFrame() throws IOException {
    try (TcpFixture fixture = new TcpFixture();
        Listener listener = fixture.server().listen(fixture.address());
        RawPeer peer = new RawPeer(fixture.address())) {
      long key = readable(fixture).remoteKey();
      QueuePair end = peer.connect(listener);
      peer.send(reads(key, 0, 8, key, REGION, 8, key, 8, 8));
      assertArrayEquals(data(Frame.LAST, 1, content(0, 8)), peer.receiveFrame());
      assertArrayEquals(
          RawPeer.frame(Frame.DONE, 0, Status.REMOTE_ACCESS, 2, 0), peer.receiveFrame());
      assertArrayEquals(data(Frame.LAST, 3, content(8, 16)), peer.receiveFrame());
      end.close();
    }
  }

  /** Answers of any lengths, far more of them than the responder's buffer and both sockets hold. */
  @Test
  void answersThatFindNoRoomComeWhenThereIsSome() throws IOException {
    long seed = Long.getLong("erda.seed", System.nanoTime());
    System.out.println("ManyReadsTest: -Derda.seed=" + seed);
    Random random = new Random(seed);
    try (TcpFixture fixture = new TcpFixture();
        Listener listener = fixture.server().listen(fixture.address());
        RawPeer peer = new RawPeer(fixture.address())) {
      long key = readable(fixture).remoteKey();
      QueuePair end = peer.connect(listener);
      List<byte[]> expected = new ArrayList<>();
      for (int i = 0; i < 120; i++) {
        long[] targets = new long[3 * (1 + random.nextInt(Frame.READS_MAX))];
        for (int at = 0; at < targets.length; at += 3) {
          int length = random.nextInt(random.nextBoolean() ? 50 : 40_000);
          int from = random.nextInt(REGION - length);
          targets[at] = key;
          targets[at + 1] = from;
          targets[at + 2] = length;
          expected.add(content(from, from + length));
        }
        peer.send(reads(targets));
      }
      assertAnswers(expected, peer);
      end.close();
    }
  }

  private static void assertAnswers(List<byte[]> expected, RawPeer peer) throws IOException {
    int next = 0;
    int taken = 0;
    while (next < expected.size()) {
      byte[] frame = peer.receiveFrame();
      MemorySegment memory = MemorySegment.ofArray(frame);
      assertTrue(
          Frame.isSound(new CRC32C(), memory, ByteBuffer.wrap(frame), 0, 0), "answer " + next);
      assertEquals(Frame.DATA, RawPeer.type(frame));
      int at = Frame.HEADER_BYTES;
      int end = at + Frame.payload(memory, 0);
      long ended = Frame.ended(memory, 0);
      while (at < end || next < ended) {
        byte[] answer = expected.get(next);
        int bytes = Math.min(end - at, answer.length - taken);
        assertArrayEquals(
            Arrays.copyOfRange(answer, taken, taken + bytes),
            Arrays.copyOfRange(frame, at, at + bytes),
            "answer " + next);
        taken += bytes;
        at = Math.min(end, at + Frame.padded(bytes));
        if (taken == answer.length) {
          next++;
          taken = 0;
        }
      }
      assertEquals(next, ended);
      assertEquals(taken == 0 ? Frame.LAST : 0, Frame.flags(memory, 0));
    }
  }

  // The requester.

  /**
   * What a requester that has posted three READs, of 24, 9 and 3 bytes, makes of answers.
   *
   * @param right whether the connection goes on; otherwise the requester ends it
   */
  private List<String> made(boolean right, byte[]... answers) throws IOException {
    TcpOptions options = TcpOptions.of(System::nanoTime, new SecureRandom());
    try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        TcpFixture memories = new TcpFixture();
        TcpClientDevice device = TcpClientDevice.open(options)) {
      MemorySegment own = memories.clientMemory(64);
      MemoryRegion local = device.register(own, Backing.none(64), Access.LOCAL);
      String address = "127.0.0.1:" + server.getLocalPort();
      QueuePair client = device.connect(address, NOTHING, Duration.ofSeconds(20));
      Recorder seen = new Recorder();
      try (Socket there = server.accept()) {
        there.setTcpNoDelay(true);
        there
            .getOutputStream()
            .write(
                RawPeer.join(
                    RawPeer.hello(false, new byte[Hello.NONCE_BYTES]),
                    RawPeer.request(Frame.ACCEPT, 0, new byte[Hello.PROOF_BYTES])));
        while (!seen.has(Opcode.CONNECT)) {
          client.poll(seen, 8);
        }
        client.post(Work.read().id(1).local(local, 0, 24).remote(7, 0).signaled());
        client.post(Work.read().id(2).local(local, 24, 9).remote(7, 64).signaled());
        client.post(Work.read().id(3).local(local, 40, 3).remote(7, 120).signaled());
        client.poll(seen, 8);
        int greeting = Hello.BYTES + Frame.HEADER_BYTES + Hello.PROOF_BYTES;
        there.getInputStream().readNBytes(greeting);
        byte[] expected = reads(7, 0, 24, 7, 64, 9, 7, 120, 3);
        RawPeer.number(expected, 0, 1);
        assertArrayEquals(expected, there.getInputStream().readNBytes(expected.length));
        byte[] framed = RawPeer.join(answers);
        RawPeer.number(framed, 0, 1);
        there.getOutputStream().write(framed);
        // A requester that finds nothing wrong goes on, and one that does ends.
        while (seen.of(Opcode.READ).size() < 3 || !right && !seen.has(Opcode.DISCONNECT)) {
          client.poll(seen, 8);
        }
        assertEquals(right, !seen.has(Opcode.DISCONNECT));
      }
      client.close();
      List<String> made = new ArrayList<>();
      for (Recorder.Completion each : seen.of(Opcode.READ)) {
        made.add(each.wrId() + " " + Status.name(each.status()));
      }
      byte[] bytes = own.toArray(ValueLayout.JAVA_BYTE);
      int[] from = {0, 64, 120};
      int[] to = {0, 24, 40};
      int[] length = {24, 9, 3};
      for (int i = 0; i < 3; i++) {
        if (made.get(i).equals(i + 1 + " success")) {
          assertArrayEquals(
              content(from[i], from[i] + length[i]),
              Arrays.copyOfRange(bytes, to[i], to[i] + length[i]));
        }
      }
      return made;
    }
  }

  private byte[] all() {
    byte[] padded = Arrays.copyOf(content(64, 73), 16);
    return RawPeer.join(content(0, 24), padded, content(120, 123));
  }

  @Test
  void answersOfOneFrameGoWhereTheirReadsSay() throws IOException {
    List<String> three = List.of("1 success", "2 success", "3 success");
    assertEquals(three, made(true, data(Frame.LAST, 3, all())));
    // The first answer in two parts, the second of them with the rest.
    assertEquals(
        three,
        made(
            true,
            data(0, 0, content(0, 16)),
            data(Frame.LAST, 3, Arrays.copyOfRange(all(), 16, all().length))));
    // A frame that ends with a part of the second answer.
    assertEquals(
        three,
        made(
            true,
            data(0, 1, Arrays.copyOf(all(), 32)),
            data(Frame.LAST, 3, Arrays.copyOfRange(all(), 32, all().length))));
  }

  @Test
  void answersThatAreTooShortOrTooLongEndTheConnection() throws IOException {
    List<String> none = List.of("1 flushed", "2 flushed", "3 flushed");
    List<String> one = List.of("1 success", "2 flushed", "3 flushed");
    List<String> two = List.of("1 success", "2 success", "3 flushed");
    int whole = all().length;
    // It says that four requests have ended, or none, or that three have and sends a byte too few.
    assertEquals(none, made(false, data(Frame.LAST, 4, all())));
    assertEquals(none, made(false, data(Frame.LAST, 0, all())));
    assertEquals(two, made(false, data(Frame.LAST, 3, Arrays.copyOf(all(), whole - 1))));
    // Too many bytes: for the last of three, for the last of two, for one that goes on.
    assertTrue(
        made(false, data(Frame.LAST, 3, Arrays.copyOf(all(), whole + 1))).contains("1 success"));
    assertEquals(two, made(false, data(Frame.LAST, 2, all())));
    assertEquals(one, made(false, data(0, 1, Arrays.copyOf(all(), 40))));
    // All bytes of the request that goes on, which would have ended.
    assertEquals(one, made(false, data(0, 1, Arrays.copyOf(all(), 33))));
  }
}
