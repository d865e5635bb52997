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
 * <p>Keys are compared by their bytes: equal keys must have equal bytes, and different keys
 * different bytes. A serializer of keys must not return an empty array.
 */
public interface Serializer<T> {
  /** The bytes of an object. The array belongs to the caller from then on. */
  byte[] toBytes(T object);

  /** The object that was serialized; never null. The array belongs to this method from then on. */
  T fromBytes(byte[] bytes);

  /** A serializer made of two functions. */
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
   * <p>A string with an unpaired surrogate has no UTF-8 and throws {@link
   * ErdaException.BadArgument}; bytes that are no UTF-8 throw {@link UncheckedIOException}.
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
