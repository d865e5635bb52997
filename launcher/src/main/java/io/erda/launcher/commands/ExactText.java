package io.erda.launcher.commands;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.util.HexFormat;

/**
 * Text that stands for bytes without losing any: UTF-8, and for each byte that is not part of valid
 * UTF-8 a lone surrogate, U+DC00 plus the byte. No valid UTF-8 decodes to a lone surrogate, so
 * every array of bytes has a text of its own, and {@link #bytes} finds it again.
 */
public final class ExactText {
  private static final char ESCAPE = '\uDC00';

  /** The text that stands for {@code bytes}. */
  public static String of(byte[] bytes) {
    CharsetDecoder decoder =
        UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(bytes);
    CharBuffer out = CharBuffer.allocate(bytes.length);
    CoderResult result = decoder.decode(in, out, true);
    while (result.isError()) {
      out.put((char) (ESCAPE + (in.get() & 0xff)));
      decoder.reset();
      result = decoder.decode(in, out, true);
    }
    return out.flip().toString();
  }

  /**
   * The bytes that {@code text} stands for.
   *
   * @throws IllegalArgumentException when it has a surrogate that neither belongs to a pair nor
   *     stands for a byte
   */
  public static byte[] bytes(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length() + 16);
    for (int at = 0; at < text.length(); ) {
      int character = text.codePointAt(at);
      at += Character.charCount(character);
      if (character >= ESCAPE + 0x80 && character <= ESCAPE + 0xff) {
        bytes.write(character - ESCAPE);
      } else if (character >= Character.MIN_SURROGATE && character <= Character.MAX_SURROGATE) {
        throw new IllegalArgumentException("a surrogate without its other half");
      } else {
        bytes.writeBytes(Character.toString(character).getBytes(UTF_8));
      }
    }
    return bytes.toByteArray();
  }

  /** Whether the bytes that {@code text} stands for are valid UTF-8. */
  static boolean isUtf8(String text) {
    return text.codePoints()
        .noneMatch(character -> Character.getType(character) == Character.SURROGATE);
  }

  /** A form for messages: printable text literally, other bytes as 0x and hexadecimal digits. */
  static String printable(byte[] bytes) {
    return isPrintable(bytes) ? of(bytes) : "0x" + HexFormat.of().formatHex(bytes);
  }

  /** As {@link #printable}, with text in quotes. */
  static String quoted(byte[] bytes) {
    return isPrintable(bytes) ? "'" + of(bytes) + "'" : printable(bytes);
  }

  private static boolean isPrintable(byte[] bytes) {
    return of(bytes)
        .codePoints()
        .noneMatch(character ->
            Character.isISOControl(character)
                || Character.getType(character) == Character.SURROGATE);
  }

  private ExactText() {}
}
