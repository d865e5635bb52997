package io.erda.eval.memcached;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.erda.eval.process.ProcessException;
import io.erda.eval.sockets.TextChannel;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * A minimal memcached client for blocking {@code get} and {@code set} of its text protocol on a
 * Unix socket: one request, one answer, or several sets in one write. A key is text without spaces
 * and control characters; a value is any bytes. One thread.
 */
public final class MemcachedClient implements AutoCloseable {
  private static final byte[] GET = "get ".getBytes(US_ASCII);
  private static final byte[] SET = "set ".getBytes(US_ASCII);

  /** The text between key and length of a set: no flags, and no expiry. */
  private static final byte[] FOR_EVER = " 0 0 ".getBytes(US_ASCII);

  private static final String STORED = "STORED";
  private static final String END = "END";

  private final TextChannel channel;
  private int sets;

  private MemcachedClient(TextChannel channel) {
    this.channel = channel;
  }

  /**
   * Connects.
   *
   * @param keyBytes of the longest key
   * @param valueBytes of the longest value
   * @param depth the most sets in flight
   */
  public static MemcachedClient connect(Path socket, int keyBytes, int valueBytes, int depth) {
    int requestBytes = depth * (keyBytes + valueBytes + 32);
    int answerBytes = depth * 16 + keyBytes + valueBytes + 64;
    return new MemcachedClient(TextChannel.connect("memcached", socket, requestBytes, answerBytes));
  }

  /**
   * Copies the value of a key into {@code into}.
   *
   * @return its length, -1 when there is none
   */
  public int get(MemorySegment key, MemorySegment into) {
    channel.put(GET).put(key).endLine().send();
    int headerEnd = channel.receiveLine(0);
    if (isLine(0, headerEnd, END)) {
      return -1;
    }
    if (channel.at(0) != 'V') {
      throw channel.unexpected(headerEnd);
    }
    int digitsFrom = headerEnd;
    while (digitsFrom > 0 && channel.at(digitsFrom - 1) != ' ') {
      digitsFrom--;
    }
    int length = channel.number(digitsFrom, headerEnd);
    if (length > into.byteSize()) {
      throw new ProcessException(
          "memcached has a value of " + length + " bytes, longer than " + into.byteSize());
    }
    int last = channel.receiveValue(headerEnd + 2, length);
    int end = channel.receiveLine(last);
    if (!isLine(last, end, END)) {
      throw channel.unexpected(end);
    }
    channel.copy(headerEnd + 2, into, 0, length);
    return length;
  }

  /** Sets the value of a key. */
  public void set(MemorySegment key, MemorySegment value) {
    addSet(key, value);
    awaitSets();
  }

  /** Adds a set to the current batch, of at most the client's depth. */
  public void addSet(MemorySegment key, MemorySegment value) {
    channel.put(SET).put(key).put(FOR_EVER).put((int) value.byteSize()).endLine();
    channel.put(value).endLine();
    sets++;
  }

  /** Number of sets in the current batch. */
  public int addedSets() {
    return sets;
  }

  /** Sends the batch, and waits until all its sets are done. */
  public void awaitSets() {
    channel.send();
    int at = 0;
    for (; sets > 0; sets--) {
      int end = channel.receiveLine(at);
      if (!isLine(at, end, STORED)) {
        throw channel.unexpected(end);
      }
      at = end + 2;
    }
  }

  private boolean isLine(int from, int end, String line) {
    if (end - from != line.length()) {
      return false;
    }
    for (int i = 0; i < line.length(); i++) {
      if (channel.at(from + i) != line.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    channel.close();
  }
}
