package io.erda.eval.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * The least Redis client that does blocking GET and SET on a Unix socket or by TCP: one request,
 * one answer, or several GETs in one write; direct buffers that are reused, no allocation. Keys of
 * one length. One thread.
 */
public final class RedisClient implements AutoCloseable {
  private static final byte[] CRLF = {'\r', '\n'};

  /** Values that are longer than an {@code int} can say have no place in a buffer. */
  private static final int LENGTH_DIGITS_MAX = 9;

  private final SocketChannel channel;
  private final ByteBuffer request;
  private final ByteBuffer answer;
  private final MemorySegment requestMemory;
  private final MemorySegment answerMemory;
  private final byte[] getHeader;
  private final byte[] setHeader;
  private final int keyBytes;

  private RedisClient(SocketChannel channel, int keyBytes, int valueBytes, int depth) {
    this.channel = channel;
    this.keyBytes = keyBytes;
    this.request = ByteBuffer.allocateDirect(Math.max(valueBytes, depth * 64) + keyBytes + 128);
    this.answer = ByteBuffer.allocateDirect(depth * (valueBytes + 64));
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
      return new RedisClient(channel, keyBytes, valueBytes, 1);
    } catch (IOException e) {
      throw new RedisException("can't connect to Redis at " + socket + ": " + e.getMessage(), e);
    }
  }

  /**
   * Connects by TCP.
   *
   * @param depth how many GETs {@link #getAll} has in flight at most; keys are 40 bytes at most
   */
  public static RedisClient connect(
      InetSocketAddress address, int keyBytes, int valueBytes, int depth) {
    try {
      SocketChannel channel = SocketChannel.open(address);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      return new RedisClient(channel, keyBytes, valueBytes, depth);
    } catch (IOException e) {
      throw new RedisException("can't connect to Redis at " + address + ": " + e.getMessage(), e);
    }
  }

  /**
   * Pipelines GETs of the keys from {@code from} on: one write, then all answers. Each value is
   * copied into {@code into}, behind the one before.
   *
   * @param count as many as the client's depth at most; every key has a value
   * @return bytes of all values
   */
  public long getAll(MemorySegment[] keys, int from, int count, MemorySegment into) {
    request.clear();
    for (int i = 0; i < count; i++) {
      request.put(getHeader);
      appendKey(keys[from + i]);
      request.put(CRLF);
    }
    send();
    int at = 0;
    long copied = 0;
    for (int i = 0; i < count; i++) {
      int headerEnd = receiveLine(at);
      int digitsFrom = at + 1;
      if (answer.get(at) != '$' || answer.get(digitsFrom) == '-') {
        throw new RedisException("Redis has no value for key " + (from + i));
      }
      int length = number(digitsFrom, headerEnd);
      receiveUntil(headerEnd + 2 + length + 2);
      MemorySegment.copy(answerMemory, headerEnd + 2, into, copied, length);
      copied += length;
      at = headerEnd + 2 + length + 2;
    }
    return copied;
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
    int length = length(headerEnd);
    if (length < 0) {
      return -1;
    }
    if (length > into.byteSize()) {
      throw new RedisException(
          "Redis has a value of " + length + " bytes, longer than " + into.byteSize());
    }
    int valueEnd = headerEnd + 2 + length;
    receiveUntil(valueEnd + 2);
    if (answer.get(valueEnd) != '\r' || answer.get(valueEnd + 1) != '\n') {
      throw new RedisException("Redis sent a value that is not " + length + " bytes long");
    }
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
    return receiveLine(0);
  }

  /** The same of the line that begins at {@code from}. */
  private int receiveLine(int from) {
    int searched = from;
    while (true) {
      int received = answer.position();
      for (; searched < received; searched++) {
        if (answer.get(searched) == '\r') {
          receiveUntil(searched + 2);
          if (answer.get(searched + 1) != '\n') {
            throw unexpected(searched);
          }
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
    if (!answer.hasRemaining()) {
      throw new RedisException("Redis's answer is longer than " + answer.capacity() + " bytes");
    }
    try {
      if (channel.read(answer) < 0) {
        throw new RedisException("Redis closed the connection");
      }
    } catch (IOException e) {
      throw new RedisException("connection to Redis broke: " + e.getMessage(), e);
    }
  }

  /** The length in the first line: digits, or -1. */
  private int length(int end) {
    if (end == 3 && answer.get(1) == '-' && answer.get(2) == '1') {
      return -1;
    }
    return number(1, end);
  }

  private int number(int from, int end) {
    if (end == from || end > from + LENGTH_DIGITS_MAX) {
      throw unexpected(end);
    }
    int length = 0;
    for (int at = from; at < end; at++) {
      int digit = answer.get(at) - '0';
      if (digit < 0 || digit > 9) {
        throw unexpected(end);
      }
      length = length * 10 + digit;
    }
    return length;
  }

  private RedisException unexpected(int end) {
    byte[] line = new byte[end];
    answer.get(0, line);
    String text = new String(line, US_ASCII).replaceAll("[^ -~]", "?");
    return new RedisException("Redis answered: " + text);
  }
}
