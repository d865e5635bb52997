package io.erda.eval.sockets;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.erda.eval.process.ProcessException;
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
 * A blocking connection to a server whose protocol has lines, and values whose length is in a line.
 * A request is built and sent, and its answer is parsed in the receive buffer, until the next
 * request is sent. Direct buffers that are reused, no allocation. One thread.
 */
public final class TextChannel implements AutoCloseable {
  private static final byte[] LINE_END = {'\r', '\n'};

  /**
   * The most digits of a number; values longer than an {@code int} can tell do not fit a buffer.
   */
  private static final int NUMBER_DIGITS_MAX = 9;

  private final String peer;
  private final SocketChannel channel;
  private final ByteBuffer request;
  private final ByteBuffer answer;
  private final MemorySegment requestMemory;
  private final MemorySegment answerMemory;

  private TextChannel(String peer, SocketChannel channel, int requestBytes, int answerBytes) {
    this.peer = peer;
    this.channel = channel;
    this.request = ByteBuffer.allocateDirect(requestBytes);
    this.answer = ByteBuffer.allocateDirect(answerBytes);
    this.requestMemory = MemorySegment.ofBuffer(request);
    this.answerMemory = MemorySegment.ofBuffer(answer);
  }

  /**
   * Connects by a Unix socket.
   *
   * @param peer name of the server, for messages
   * @param requestBytes of the longest request
   * @param answerBytes of the longest answer
   */
  public static TextChannel connect(String peer, Path socket, int requestBytes, int answerBytes) {
    try {
      SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        channel.connect(UnixDomainSocketAddress.of(socket));
      } catch (IOException e) {
        channel.close();
        throw e;
      }
      return new TextChannel(peer, channel, requestBytes, answerBytes);
    } catch (IOException e) {
      throw notConnected(peer, socket, e);
    }
  }

  /** Connects by TCP, otherwise the same. */
  public static TextChannel connect(
      String peer, InetSocketAddress address, int requestBytes, int answerBytes) {
    try {
      SocketChannel channel = SocketChannel.open(address);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      return new TextChannel(peer, channel, requestBytes, answerBytes);
    } catch (IOException e) {
      throw notConnected(peer, address, e);
    }
  }

  private static ProcessException notConnected(String peer, Object where, IOException e) {
    return new ProcessException(
        "can't connect to " + peer + " at " + where + ": " + e.getMessage(), e);
  }

  /** Appends text or a key to the request. */
  public TextChannel put(byte[] text) {
    request.put(text);
    return this;
  }

  /** Appends a key or a value to the request. */
  public TextChannel put(MemorySegment bytes) {
    int at = request.position();
    MemorySegment.copy(bytes, 0, requestMemory, at, bytes.byteSize());
    request.position(at + (int) bytes.byteSize());
    return this;
  }

  /** Appends a number in decimal to the request. */
  public TextChannel put(int number) {
    int divisor = 1;
    while (number / divisor >= 10) {
      divisor *= 10;
    }
    for (; divisor > 0; divisor /= 10) {
      request.put((byte) ('0' + number / divisor % 10));
    }
    return this;
  }

  /** Ends a line of the request. */
  public TextChannel endLine() {
    request.put(LINE_END);
    return this;
  }

  /** Sends the request, and drops the previous answer. */
  public void send() {
    request.flip();
    answer.clear();
    try {
      while (request.hasRemaining()) {
        channel.write(request);
      }
    } catch (IOException e) {
      throw broke(e);
    }
    request.clear();
  }

  /**
   * Receives the line that begins at {@code from}.
   *
   * @return the place of its CR; the next line begins two bytes behind
   */
  public int receiveLine(int from) {
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

  /**
   * Receives the value that begins at {@code from}, with the line's end after it.
   *
   * @return where the next line begins
   */
  public int receiveValue(int from, int length) {
    int end = from + length;
    receiveUntil(end + 2);
    if (answer.get(end) != '\r' || answer.get(end + 1) != '\n') {
      throw new ProcessException(peer + " sent a value that is not " + length + " bytes long");
    }
    return end + 2;
  }

  /** Copies a part of the answer. */
  public void copy(int from, MemorySegment into, long at, int length) {
    MemorySegment.copy(answerMemory, from, into, at, length);
  }

  /** A byte of the answer. */
  public byte at(int place) {
    return answer.get(place);
  }

  /** A part of the answer as text. */
  public String text(int from, int end) {
    byte[] bytes = new byte[end - from];
    answer.get(from, bytes);
    return new String(bytes, US_ASCII);
  }

  /** The decimal number that fills the range of the answer. */
  public int number(int from, int end) {
    if (end <= from || end > from + NUMBER_DIGITS_MAX) {
      throw unexpected(end);
    }
    int number = 0;
    for (int at = from; at < end; at++) {
      int digit = answer.get(at) - '0';
      if (digit < 0 || digit > 9) {
        throw unexpected(end);
      }
      number = number * 10 + digit;
    }
    return number;
  }

  /** The exception for an unexpected answer up to {@code end}. */
  public ProcessException unexpected(int end) {
    return new ProcessException(peer + " answered: " + text(0, end).replaceAll("[^ -~]", "?"));
  }

  private void receiveUntil(int bytes) {
    while (answer.position() < bytes) {
      receive();
    }
  }

  private void receive() {
    if (!answer.hasRemaining()) {
      throw new ProcessException(peer + "'s answer is longer than " + answer.capacity() + " bytes");
    }
    try {
      if (channel.read(answer) < 0) {
        throw new ProcessException(peer + " closed the connection");
      }
    } catch (IOException e) {
      throw broke(e);
    }
  }

  private ProcessException broke(IOException e) {
    return new ProcessException("connection to " + peer + " broke: " + e.getMessage(), e);
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new ProcessException(
          "can't close the connection to " + peer + ": " + e.getMessage(), e);
    }
  }
}
