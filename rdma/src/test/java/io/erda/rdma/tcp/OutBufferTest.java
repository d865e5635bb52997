package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A buffer sends what was added to it, however few bytes the socket takes at a time. */
final class OutBufferTest {
  private static final int FRAMES = 20_000;
  private static final int PAYLOAD_MAX = 200;

  private final long seed = Long.getLong("erda.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final byte[] memory = new byte[1024];
  private final OutBuffer out = new OutBuffer(MemorySegment.ofArray(memory));
  private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
  private final Trickle transport = new Trickle();

  /** The parts of the open frame; empty when there is none. */
  private final List<byte[]> parts = new ArrayList<>();

  private int openType;
  private int ended;

  @Test
  void framesAreSentAsTheyWereAdded() throws IOException {
    System.out.println("OutBufferTest: -Derda.seed=" + seed);
    for (int i = 0; i < FRAMES; i++) {
      byte[] bytes = new byte[random.nextInt(PAYLOAD_MAX)];
      random.nextBytes(bytes);
      while (!out.hasRoom(Frame.HEADER_BYTES + Frame.padded(bytes.length))) {
        flush();
      }
      if (random.nextInt(4) == 0) {
        close();
        put(out.at() + Frame.HEADER_BYTES, bytes);
        out.addFrame(bytes.length, Frame.MESSAGE, 0, 0, ++ended, 0);
        expected.write(RawPeer.frame(Frame.MESSAGE, 0, 0, ended, 0, bytes));
      } else {
        addPart(random.nextBoolean() ? Frame.DATA : Frame.READ, bytes);
      }
      if (random.nextInt(8) == 0) {
        flush();
      }
    }
    while (!flush()) {}
    byte[] frames = expected.toByteArray();
    RawPeer.number(frames, 0, 0);
    assertArrayEquals(frames, transport.sent.toByteArray());
  }

  private void addPart(int type, byte[] bytes) throws IOException {
    int open = parts.stream().mapToInt(part -> Frame.padded(part.length)).sum();
    if (openType != type || open + bytes.length > PAYLOAD_MAX) {
      close();
    }
    put(out.partAt(type, bytes.length, PAYLOAD_MAX), bytes);
    out.addPart(type, bytes.length, 0, ++ended, 0);
    parts.add(bytes);
    openType = type;
  }

  private void put(int at, byte[] bytes) {
    MemorySegment.copy(
        MemorySegment.ofArray(bytes), 0, MemorySegment.ofArray(memory), at, bytes.length);
  }

  private boolean flush() throws IOException {
    close();
    return out.flush(transport);
  }

  /** Adds the frame of the parts to what is expected. */
  private void close() throws IOException {
    if (parts.isEmpty()) {
      return;
    }
    ByteArrayOutputStream payload = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      payload.write(new byte[Frame.padded(payload.size()) - payload.size()]);
      payload.write(part);
    }
    parts.clear();
    expected.write(RawPeer.frame(openType, 0, 0, ended, 0, payload.toByteArray()));
  }

  /** A socket that takes a few bytes, or none. */
  private final class Trickle implements Transport {
    final ByteArrayOutputStream sent = new ByteArrayOutputStream();

    @Override
    public void write(ByteBuffer from) {
      byte[] taken = new byte[Math.min(from.remaining(), random.nextInt(600))];
      from.get(taken);
      sent.writeBytes(taken);
    }

    @Override
    public int read(ByteBuffer to) {
      return 0;
    }

    @Override
    public boolean isWaiting() {
      return false;
    }

    @Override
    public boolean hasMore() {
      return false;
    }

    @Override
    public void flush() {}

    @Override
    public boolean isAgreeing() {
      return false;
    }

    @Override
    public byte[] binding() {
      return new byte[0];
    }

    @Override
    public SocketChannel channel() {
      return null;
    }

    @Override
    public void close() {}
  }
}
