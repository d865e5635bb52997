package io.erda.eval.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.erda.eval.process.ProcessException;
import io.erda.eval.sockets.TextChannel;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/**
 * A minimal Redis client for blocking GET and SET on a Unix socket or by TCP: one request, one
 * answer, or several GETs or SETs in one write. Keys of one length. One thread.
 */
public final class RedisClient implements AutoCloseable {
  private static final String PEER = "Redis";
  private static final byte[] LENGTH = {'$'};

  private final TextChannel channel;
  private final byte[] getHeader;
  private final byte[] setHeader;
  private int sets;

  private RedisClient(TextChannel channel, int keyBytes) {
    this.channel = channel;
    this.getHeader = header("*2\r\n$3\r\nGET\r\n$" + keyBytes);
    this.setHeader = header("*3\r\n$3\r\nSET\r\n$" + keyBytes);
  }

  private static byte[] header(String lines) {
    return (lines + "\r\n").getBytes(US_ASCII);
  }

  private static int requestBytes(int keyBytes, int valueBytes, int depth) {
    return depth * (keyBytes + valueBytes + 64) + 64;
  }

  private static int answerBytes(int valueBytes, int depth) {
    return depth * (valueBytes + 64);
  }

  /**
   * Connects.
   *
   * @param keyBytes of every key
   * @param valueBytes of the longest value
   */
  public static RedisClient connect(Path socket, int keyBytes, int valueBytes) {
    return connect(socket, keyBytes, valueBytes, 1);
  }

  /**
   * Connects.
   *
   * @param depth the most GETs or SETs in flight
   */
  public static RedisClient connect(Path socket, int keyBytes, int valueBytes, int depth) {
    return new RedisClient(
        TextChannel.connect(
            PEER,
            socket,
            requestBytes(keyBytes, valueBytes, depth),
            answerBytes(valueBytes, depth)),
        keyBytes);
  }

  /** Connects by TCP, otherwise the same. */
  public static RedisClient connect(
      InetSocketAddress address, int keyBytes, int valueBytes, int depth) {
    return new RedisClient(
        TextChannel.connect(
            PEER,
            address,
            requestBytes(keyBytes, valueBytes, depth),
            answerBytes(valueBytes, depth)),
        keyBytes);
  }

  /**
   * Pipelines GETs of the keys from {@code from} on: one write, then all answers. Each value is
   * copied into {@code into}, after the previous one.
   *
   * @param count at most the client's depth; every key has a value
   * @return bytes of all values
   */
  public long getAll(MemorySegment[] keys, int from, int count, MemorySegment into) {
    for (int i = 0; i < count; i++) {
      channel.put(getHeader).put(keys[from + i]).endLine();
    }
    channel.send();
    int at = 0;
    long copied = 0;
    for (int i = 0; i < count; i++) {
      int headerEnd = channel.receiveLine(at);
      int digitsFrom = at + 1;
      if (channel.at(at) != '$' || channel.at(digitsFrom) == '-') {
        throw new ProcessException("Redis has no value for key " + (from + i));
      }
      int length = channel.number(digitsFrom, headerEnd);
      at = channel.receiveValue(headerEnd + 2, length);
      channel.copy(headerEnd + 2, into, copied, length);
      copied += length;
    }
    return copied;
  }

  /**
   * Copies the value of a key into {@code into}.
   *
   * @return its length, -1 when there is none
   */
  public int get(MemorySegment key, MemorySegment into) {
    channel.put(getHeader).put(key).endLine().send();
    int headerEnd = channel.receiveLine(0);
    if (channel.at(0) != '$') {
      throw channel.unexpected(headerEnd);
    }
    int length = length(headerEnd);
    if (length < 0) {
      return -1;
    }
    if (length > into.byteSize()) {
      throw new ProcessException(
          "Redis has a value of " + length + " bytes, longer than " + into.byteSize());
    }
    channel.receiveValue(headerEnd + 2, length);
    channel.copy(headerEnd + 2, into, 0, length);
    return length;
  }

  /** The length in the first line: digits, or -1. */
  private int length(int end) {
    return end == 3 && channel.at(1) == '-' && channel.at(2) == '1' ? -1 : channel.number(1, end);
  }

  /** Sets the value of a key. */
  public void set(MemorySegment key, MemorySegment value) {
    addSet(key, value);
    awaitSets();
  }

  /** Adds a SET to the current batch, of at most the client's depth. */
  public void addSet(MemorySegment key, MemorySegment value) {
    channel.put(setHeader).put(key).endLine();
    channel.put(LENGTH).put((int) value.byteSize()).endLine().put(value).endLine();
    sets++;
  }

  /** Number of SETs in the current batch. */
  public int addedSets() {
    return sets;
  }

  /** Sends the batch, and waits until all its SETs are done. */
  public void awaitSets() {
    channel.send();
    int at = 0;
    for (; sets > 0; sets--) {
      int end = channel.receiveLine(at);
      if (channel.at(at) != '+') {
        throw channel.unexpected(end);
      }
      at = end + 2;
    }
  }

  /** Whether the server has loaded its file, and answers. */
  boolean isReady() {
    channel.put("PING".getBytes(US_ASCII)).endLine().send();
    channel.receiveLine(0);
    return channel.at(0) == '+';
  }

  /** Whether the server appends changes to a file. */
  public boolean appendsToFile() {
    channel.put("CONFIG GET appendonly".getBytes(US_ASCII)).endLine().send();
    int from = 0;
    int end = channel.receiveLine(from);
    for (int line = 1; line < 5; line++) { // *2, $10, appendonly, $2 or $3, no or yes
      from = end + 2;
      end = channel.receiveLine(from);
    }
    return channel.text(from, end).equals("yes");
  }

  @Override
  public void close() {
    channel.close();
  }
}
