package io.erda.rdma.tcp;

import io.erda.rdma.Listener;
import io.erda.rdma.QueuePair;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/** A peer that sends any bytes: what the protocol says, or not. */
final class RawPeer implements AutoCloseable {
  private static final int TIMEOUT_MS = 20_000;

  private final Socket socket = new Socket();
  byte[] nonceThere;

  /** The numbers of the next frames. */
  private int nextSent;

  private int nextReceived;

  RawPeer(String address) throws IOException {
    int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    socket.connect(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), TIMEOUT_MS);
    socket.setSoTimeout(TIMEOUT_MS);
    socket.setTcpNoDelay(true);
  }

  static byte[] hello(boolean hasSecret, byte[] nonce) {
    byte[] hello = new byte[Hello.BYTES];
    Hello.put(
        new CRC32C(), MemorySegment.ofArray(hello), ByteBuffer.wrap(hello), 0, hasSecret, nonce);
    return hello;
  }

  /** A whole frame, with the number 0; {@code payload} is padded. */
  static byte[] frame(int type, int flags, int status, long ended, long consumed, byte... payload) {
    byte[] frame = Arrays.copyOf(new byte[0], Frame.HEADER_BYTES + Frame.padded(payload.length));
    MemorySegment memory = MemorySegment.ofArray(frame);
    MemorySegment.copy(
        payload, 0, memory, ValueLayout.JAVA_BYTE, Frame.HEADER_BYTES, payload.length);
    Frame.put(memory, 0, payload.length, type, flags, status, ended, consumed);
    Frame.seal(new CRC32C(), memory, ByteBuffer.wrap(frame), 0, 0);
    return frame;
  }

  /**
   * Gives what begins with a HELLO, and whatever lies behind it in the form of frames, the
   * checksums and numbers that fit. Changes the array.
   */
  static byte[] sealed(byte[] stream) {
    ByteBuffer bytes = ByteBuffer.wrap(stream);
    MemorySegment memory = MemorySegment.ofArray(stream);
    CRC32C checksum = new CRC32C();
    if (stream.length < Hello.BYTES) {
      return stream;
    }
    int helloEnd = Hello.BYTES - Integer.BYTES;
    Frame.putInt(memory, helloEnd, Frame.checksum(checksum, bytes, 0, helloEnd));
    int number = 0;
    long next = Hello.BYTES;
    while (stream.length - next >= Frame.HEADER_BYTES) {
      int at = (int) next;
      int payload = Frame.payload(memory, at);
      next += Frame.HEADER_BYTES + (long) Frame.padded(payload);
      Frame.putLength(memory, at, payload);
      if (payload < 0 || payload > stream.length || next > stream.length) {
        return stream;
      }
      Frame.seal(checksum, memory, bytes, at, number++);
    }
    return stream;
  }

  /** Gives a whole frame the checksum that fits, with the number 0. Changes the array. */
  static void sealedFrame(byte[] frame) {
    Frame.seal(new CRC32C(), MemorySegment.ofArray(frame), ByteBuffer.wrap(frame), 0, 0);
  }

  /**
   * Gives the frames at the beginning that have the number 0 ascending numbers. Changes the array.
   *
   * @return how many frames got one
   */
  static int number(byte[] frames, int from, int first) {
    MemorySegment memory = MemorySegment.ofArray(frames);
    ByteBuffer bytes = ByteBuffer.wrap(frames);
    CRC32C checksum = new CRC32C();
    int count = 0;
    for (int at = from; frames.length - at >= Frame.HEADER_BYTES; count++) {
      int length = Frame.bytes(memory, at, Frame.BYTES_MAX);
      if (length <= 0
          || length > frames.length - at
          || !Frame.isSound(checksum, memory, bytes, at, 0)) {
        break;
      }
      Frame.seal(checksum, memory, bytes, at, first + count);
      at += length;
    }
    return count;
  }

  /** As {@link #number}, for the frames of a whole stream, behind its HELLO. */
  static byte[] numbered(byte[] stream) {
    number(stream, Hello.BYTES, 0);
    return stream;
  }

  /** Has a frame say another length of its payload than it has. Changes the array. */
  static void lie(byte[] frame, int payload) {
    Frame.putLength(MemorySegment.ofArray(frame), 0, payload);
  }

  static byte[] request(int type, int flags, byte... payload) {
    return frame(type, flags, 0, 0, 0, payload);
  }

  /** A payload of words. */
  static byte[] words(long... words) {
    byte[] bytes = new byte[8 * words.length];
    for (int i = 0; i < words.length; i++) {
      Frame.putLong(MemorySegment.ofArray(bytes), 8L * i, words[i]);
    }
    return bytes;
  }

  static byte[] join(byte[]... parts) {
    byte[] all = new byte[0];
    for (byte[] part : parts) {
      int at = all.length;
      all = Arrays.copyOf(all, at + part.length);
      System.arraycopy(part, 0, all, at, part.length);
    }
    return all;
  }

  /** A WRITE of one frame. */
  static byte[] write(int flags, long key, long offset, byte... data) {
    return request(Frame.WRITE, flags, join(words(key, offset, (long) data.length << 32), data));
  }

  /** Sends bytes. Frames with the number 0 get the numbers that they must have here. */
  void send(byte[] bytes) throws IOException {
    byte[] numbered = bytes.clone();
    nextSent += number(numbered, 0, nextSent);
    socket.getOutputStream().write(numbered);
  }

  /** Exactly so many bytes; fewer when the other end has ended. */
  byte[] receive(int bytes) throws IOException {
    return socket.getInputStream().readNBytes(bytes);
  }

  /** Returns the next frame, sealed with the number 0; null when the other end has ended. */
  byte[] receiveFrame() throws IOException {
    InputStream in = socket.getInputStream();
    byte[] header = in.readNBytes(Frame.HEADER_BYTES);
    if (header.length < Frame.HEADER_BYTES) {
      return null;
    }
    int payload = Frame.payload(MemorySegment.ofArray(header), 0);
    byte[] frame = join(header, in.readNBytes(Frame.padded(payload)));
    MemorySegment memory = MemorySegment.ofArray(frame);
    ByteBuffer bytes = ByteBuffer.wrap(frame);
    if (Frame.isSound(new CRC32C(), memory, bytes, 0, nextReceived++)) {
      Frame.seal(new CRC32C(), memory, bytes, 0, 0);
    }
    return frame;
  }

  static int type(byte[] frame) {
    return Frame.type(MemorySegment.ofArray(frame), 0);
  }

  static int status(byte[] frame) {
    return Frame.status(MemorySegment.ofArray(frame), 0);
  }

  /** HELLO to and fro. */
  void greet(boolean hasSecret, byte[] nonce) throws IOException {
    send(hello(hasSecret, nonce));
    byte[] answer = receive(Hello.BYTES);
    nonceThere =
        answer.length == Hello.BYTES ? Hello.nonce(MemorySegment.ofArray(answer), 0) : null;
  }

  /** Connects without a secret; the server's thread is the caller. Returns the server's end. */
  QueuePair connect(Listener listener) throws IOException {
    greet(false, new byte[Hello.NONCE_BYTES]);
    send(request(Frame.CONNECT, 0, new byte[Hello.PROOF_BYTES]));
    io.erda.rdma.ConnectionRequest request = listener.poll();
    while (request == null) {
      Thread.onSpinWait();
      request = listener.poll();
    }
    QueuePair end = request.accept(MemorySegment.ofArray(new byte[0]));
    byte[] answer = receiveFrame();
    if (answer == null || type(answer) != Frame.ACCEPT) {
      throw new IOException("not accepted");
    }
    return end;
  }

  /** Whether the other end ends the connection, whatever it sends before. */
  boolean isEnded() {
    try {
      byte[] rest = new byte[4096];
      while (socket.getInputStream().read(rest) >= 0) {}
      return true;
    } catch (java.net.SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  void endWithin(int ms) throws IOException {
    socket.setSoTimeout(ms);
  }

  /** Closes the socket while sent bytes are still in transit. */
  @Override
  public void close() throws IOException {
    socket.close();
  }
}
