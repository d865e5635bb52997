package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.protocol.ErdaException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.function.Function;

/**
 * Converts the keys or values of an {@link ErdaMap} to bytes and back. Several threads may call
 * both methods at the same time.
 *
 * <p>Keys are compared by their bytes: equal keys must have equal bytes, and different keys
 * different bytes. A serializer of keys must not return an empty array.
 */
public interface Serializer<T> {
  /**
   * Returns the bytes of an object; never null. After the return the array belongs to the caller.
   */
  byte[] toBytes(T object);

  /**
   * Returns the object that was serialized; never null. The array belongs to this method from the
   * call on.
   */
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
   * Returns a serializer that writes strings as UTF-8.
   *
   * <p>It throws {@link ErdaException.BadArgument} for a string with an unpaired surrogate, which
   * has no UTF-8, and {@link UncheckedIOException} for bytes that are no UTF-8.
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
