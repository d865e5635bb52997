package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;

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

  /** Strings as UTF-8. What has no UTF-8 (half of a surrogate pair) becomes a question mark. */
  static Serializer<String> utf8() {
    return of(text -> text.getBytes(UTF_8), bytes -> new String(bytes, UTF_8));
  }
}
