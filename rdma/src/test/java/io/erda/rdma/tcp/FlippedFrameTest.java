package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Every single bit of a HELLO and of frames of every type is flipped, one after the other: what an
 * end takes is what was sent up to the damaged one, which it recognises without waiting for more.
 */
final class FlippedFrameTest {
  private static final byte[] PROOF = new byte[Hello.PROOF_BYTES + 48];

  private static byte[] requests(boolean hasSecret) {
    return RawPeer.join(
        RawPeer.hello(hasSecret, nonce()),
        RawPeer.request(Frame.CONNECT, 0, PROOF),
        RawPeer.request(Frame.READ, 0, RawPeer.words(0x20000, 8, 3000)),
        RawPeer.request(Frame.READ, 0, RawPeer.words(0x20000, 8, 24, 0x20000, 64, 1000)),
        RawPeer.write(Frame.MORE, 0x20000, 0, new byte[32]),
        RawPeer.write(Frame.IMM, 0x20000, 32, new byte[9]),
        RawPeer.request(Frame.COMPARE_AND_SWAP, 0, RawPeer.words(0x20000, 8, 1, 0)),
        RawPeer.request(Frame.ATOMIC_WRITE, 0, RawPeer.words(0x20000, 8, 1)),
        RawPeer.request(Frame.FLUSH, Frame.ACK, RawPeer.words(0x20000, 0, 64)),
        RawPeer.request(Frame.SEND, Frame.ACK, new byte[100]),
        RawPeer.request(Frame.CREDIT, 0),
        RawPeer.request(Frame.WITHDRAW, 0));
  }

  private static byte[] answers(boolean hasSecret) {
    return RawPeer.join(
        RawPeer.hello(hasSecret, nonce()),
        RawPeer.request(Frame.ACCEPT, 0, PROOF),
        RawPeer.frame(Frame.MESSAGE, 0, 0, 0, 0, new byte[41]),
        RawPeer.frame(Frame.DATA, 0, 0, 0, 0, new byte[1000]),
        RawPeer.frame(Frame.DATA, Frame.LAST, 0, 3, 0, new byte[80]),
        RawPeer.frame(Frame.DONE, 0, 2, 4, 0),
        RawPeer.frame(Frame.WITHDRAWN, 0, 0, 4, 72, RawPeer.words(1, 0)));
  }

  private static byte[] nonce() {
    byte[] nonce = new byte[Hello.NONCE_BYTES];
    nonce[5] = 7;
    return nonce;
  }

  @Test
  void ofRequests() throws IOException {
    flipEveryBit(requests(false));
    flipEveryBit(requests(true));
  }

  @Test
  void ofAnswers() throws IOException {
    flipEveryBit(answers(false));
    flipEveryBit(answers(true));
  }

  /** A repeated request would be done twice, a repeated answer be taken for that of the next. */
  @Test
  void framesThatAreRepeatedMissingOrExchangedAreDamaged() throws IOException {
    byte[] sent = RawPeer.numbered(answers(false));
    List<byte[]> parts = taken(sent);
    for (int i = 1; i < parts.size(); i++) {
      List<byte[]> repeated = new ArrayList<>(parts);
      repeated.add(i, parts.get(i));
      assertEquals(i + 1, taken(join(repeated)).size(), "repeated: " + i);
      List<byte[]> missing = new ArrayList<>(parts);
      missing.remove(i);
      assertEquals(i, taken(join(missing)).size(), "missing: " + i);
      List<byte[]> exchanged = new ArrayList<>(parts);
      exchanged.add(i - 1 == 0 ? i : i - 1, exchanged.remove(i));
      assertEquals(i == 1 ? parts.size() : i - 1, taken(join(exchanged)).size(), "moved: " + i);
    }
  }

  private static byte[] join(List<byte[]> parts) {
    return RawPeer.join(parts.toArray(byte[][]::new));
  }

  private static void flipEveryBit(byte[] sent) throws IOException {
    RawPeer.numbered(sent);
    List<byte[]> whole = taken(sent);
    assertTrue(whole.size() > 6, "without a flip all is taken");
    assertArrayEquals(sent, join(whole));
    for (int bit = 0; bit < 8 * sent.length; bit++) {
      byte[] flipped = sent.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      List<byte[]> before = taken(flipped);
      int bytes = 0;
      for (int i = 0; i < before.size(); i++) {
        assertArrayEquals(whole.get(i), before.get(i), "bit " + bit);
        bytes += before.get(i).length;
      }
      int next = before.size();
      assertTrue(
          next < whole.size() && bytes <= bit / 8 && bit / 8 < bytes + whole.get(next).length,
          "bit " + bit + " was not noticed where it lies, behind " + bytes + " bytes");
    }
  }

  /**
   * Returns the parts of a stream that an end accepts: the HELLO and the frames before the first
   * damaged one.
   */
  private static List<byte[]> taken(byte[] stream) throws IOException {
    InBuffer in = new InBuffer(Arena.ofAuto().allocate(8 << 10, 8));
    List<byte[]> all = new ArrayList<>();
    assertEquals(stream.length, in.fill(transport(stream)));
    if (!Hello.begins(in.memory(), in.at())) {
      assertTrue(Hello.isDamagedMagic(in.memory(), in.at()), "taken for another protocol");
      return all;
    }
    if (!in.isHelloSound()) {
      return all;
    }
    take(in, Hello.BYTES, all);
    while (in.available() > 0) {
      int bytes = in.frame(Frame.BYTES_MAX);
      if (bytes == Frame.DAMAGED) {
        return all;
      }
      assertTrue(bytes > 0, "all is there, and it waits, or takes it for another protocol");
      take(in, bytes, all);
    }
    return all;
  }

  private static void take(InBuffer in, int bytes, List<byte[]> all) {
    all.add(in.memory().asSlice(in.at(), bytes).toArray(ValueLayout.JAVA_BYTE));
    in.take(bytes);
  }

  /** Has these bytes to read. */
  private static Transport transport(byte[] stream) {
    return (Transport)
        Proxy.newProxyInstance(
            Transport.class.getClassLoader(),
            new Class<?>[] {Transport.class},
            (proxy, method, arguments) -> {
              ((ByteBuffer) arguments[0]).put(stream);
              return stream.length;
            });
  }
}
