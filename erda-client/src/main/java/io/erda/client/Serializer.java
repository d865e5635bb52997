package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.protocol.ErdaException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.function.Function;

/**
 * How an {@link ErdaMap} writes keys or values. Any thread may call both methods, several at a
 * time.
 *
 * <p>Two keys are one if their bytes are equal: equal keys must have equal bytes, and others must
 * not. A serializer of keys never makes zero bytes.
 */
public interface Serializer<T> {
  /** The bytes of an object; the array is the caller's from then on. */
  byte[] toBytes(T object);

  /** The object that bytes were made of; never null. The array is this method's from then on. */
  T fromBytes(byte[] bytes);

  /** A serializer of two functions. */
  static <T> Serializer<T> of(
      Function<? super T, byte[]> toBytes, Function<byte[], ? extends T> fromBytes) {
    return new Serializer<>() {
      @Override
      public byte[] toBytes(T object) {
        return toBytes.apply(object);
      }

      @Override
      public T fromBytes(byte[] bytes) {
        return fromBytes.apply(bytes);
      }
    };
  }

  /**
   * Strings as UTF-8.
   *
   * <p>A string that has no UTF-8, because half of a surrogate pair is in it, is refused with
   * {@link ErdaException.BadArgument}; bytes that are no UTF-8, with {@link UncheckedIOException}.
   */
  static Serializer<String> utf8() {
    return of(Serializer::encoded, Serializer::decoded);
  }

  private static byte[] encoded(String text) {
    try {
      ByteBuffer encoded = UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw new ErdaException.BadArgument(
          "a string of " + text.length() + " characters has no UTF-8: " + e.getMessage());
    }
  }

  private static String decoded(byte[] bytes) {
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new UncheckedIOException(bytes.length + " bytes are no UTF-8", e);
    }
  }
}
