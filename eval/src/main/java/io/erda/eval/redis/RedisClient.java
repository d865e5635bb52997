package io.erda.eval.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * The least Redis client that does blocking GET and SET on a Unix socket: one request, one answer,
 * direct buffers that are reused, no allocation. Keys of one length. One thread.
 */
public final class RedisClient implements AutoCloseable {
  private static final byte[] CRLF = {'\r', '\n'};

  private final SocketChannel channel;
  private final ByteBuffer request;
  private final ByteBuffer answer;
  private final MemorySegment requestMemory;
  private final MemorySegment answerMemory;
  private final byte[] getHeader;
  private final byte[] setHeader;
  private final int keyBytes;

  private RedisClient(SocketChannel channel, int keyBytes, int valueBytes) {
    this.channel = channel;
    this.keyBytes = keyBytes;
    this.request = ByteBuffer.allocateDirect(valueBytes + keyBytes + 128);
    this.answer = ByteBuffer.allocateDirect(valueBytes + 64);
    this.requestMemory = MemorySegment.ofBuffer(request);
    this.answerMemory = MemorySegment.ofBuffer(answer);
    this.getHeader = ("*2\r\n$3\r\nGET\r\n$" + keyBytes + "\r\n").getBytes(US_ASCII);
    this.setHeader = ("*3\r\n$3\r\nSET\r\n$" + keyBytes + "\r\n").getBytes(US_ASCII);
  }

  /**
   * Connects.
   *
   * @param keyBytes of every key
   * @param valueBytes of the longest value
   */
  public static RedisClient connect(Path socket, int keyBytes, int valueBytes) {
    try {
      SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      channel.connect(UnixDomainSocketAddress.of(socket));
      return new RedisClient(channel, keyBytes, valueBytes);
    } catch (IOException e) {
      throw new RedisException("can't connect to Redis at " + socket + ": " + e.getMessage(), e);
    }
  }

  /**
   * Copies the value of a key into {@code into}.
   *
   * @return its length, -1 when there is none
   */
  public int get(MemorySegment key, MemorySegment into) {
    request.clear();
    request.put(getHeader);
    appendKey(key);
    request.put(CRLF);
    send();
    int headerEnd = receiveLine();
    if (answer.get(0) != '$') {
      throw unexpected(headerEnd);
    }
    int length = number(1, headerEnd);
    if (length < 0) {
      return -1;
    }
    receiveUntil(headerEnd + 2 + length + 2);
    MemorySegment.copy(answerMemory, headerEnd + 2, into, 0, length);
    return length;
  }

  /** Sets the value of a key. */
  public void set(MemorySegment key, MemorySegment value) {
    request.clear();
    request.put(setHeader);
    appendKey(key);
    request.put(CRLF).put((byte) '$');
    appendNumber((int) value.byteSize());
    request.put(CRLF);
    int at = request.position();
    MemorySegment.copy(value, 0, requestMemory, at, value.byteSize());
    request.position(at + (int) value.byteSize());
    request.put(CRLF);
    send();
    int end = receiveLine();
    if (answer.get(0) != '+') {
      throw unexpected(end);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new RedisException("can't close the connection to Redis: " + e.getMessage(), e);
    }
  }

  private void appendKey(MemorySegment key) {
    int at = request.position();
    MemorySegment.copy(key, 0, requestMemory, at, keyBytes);
    request.position(at + keyBytes);
  }

  private void appendNumber(int number) {
    int divisor = 1;
    while (number / divisor >= 10) {
      divisor *= 10;
    }
    for (; divisor > 0; divisor /= 10) {
      request.put((byte) ('0' + number / divisor % 10));
    }
  }

  private void send() {
    request.flip();
    answer.clear();
    try {
      while (request.hasRemaining()) {
        channel.write(request);
      }
    } catch (IOException e) {
      throw new RedisException("connection to Redis broke: " + e.getMessage(), e);
    }
  }

  /**
   * Receives until the first line is there.
   *
   * @return where its CR is
   */
  private int receiveLine() {
    int searched = 0;
    while (true) {
      int received = answer.position();
      for (; searched < received; searched++) {
        if (answer.get(searched) == '\r') {
          receiveUntil(searched + 2);
          return searched;
        }
      }
      receive();
    }
  }

  private void receiveUntil(int bytes) {
    while (answer.position() < bytes) {
      receive();
    }
  }

  private void receive() {
    try {
      if (channel.read(answer) < 0) {
        throw new RedisException("Redis closed the connection");
      }
    } catch (IOException e) {
      throw new RedisException("connection to Redis broke: " + e.getMessage(), e);
    }
  }

  private int number(int from, int to) {
    boolean negative = answer.get(from) == '-';
    int number = 0;
    for (int at = negative ? from + 1 : from; at < to; at++) {
      number = number * 10 + answer.get(at) - '0';
    }
    return negative ? -number : number;
  }

  private RedisException unexpected(int end) {
    byte[] line = new byte[end];
    answer.get(0, line);
    return new RedisException("Redis answered: " + new String(line, US_ASCII));
  }
}
