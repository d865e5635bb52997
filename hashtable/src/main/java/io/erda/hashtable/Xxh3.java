package io.erda.hashtable;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * The common part of the 64-bit and the 128-bit form of XXH3, according to its specification
 * (xxHash fast digest algorithm, version 0.2): constants, the secret, the mixing of words, and the
 * loop over long inputs. The tests compare it with the library Zero-Allocation-Hashing. Erda does
 * not use that library itself, because it reads memory by Unsafe, and every JVM would print a
 * warning.
 */
final class Xxh3 {
  static final long PRIME32_1 = 0x9E37_79B1L;
  static final long PRIME32_2 = 0x85EB_CA77L;
  static final long PRIME32_3 = 0xC2B2_AE3DL;
  static final long PRIME64_1 = 0x9E37_79B1_85EB_CA87L;
  static final long PRIME64_2 = 0xC2B2_AE3D_27D4_EB4FL;
  static final long PRIME64_3 = 0x1656_67B1_9E37_79F9L;
  static final long PRIME64_4 = 0x85EB_CA77_C2B2_AE63L;
  static final long PRIME64_5 = 0x27D4_EB2F_1656_67C5L;
  static final long PRIME_MX1 = 0x1656_6791_9E37_79F9L;
  static final long PRIME_MX2 = 0x9FB2_1C65_1E98_DF25L;

  /** Inputs longer than this many bytes are hashed stripe by stripe. */
  static final int SHORT_MAX = 240;

  /** The offset of the secret with which the bytes from 128 to 240 of such an input are mixed. */
  static final int SECRET_START = 3;

  /**
   * The offset of the secret with which the last 16 bytes of an input of 129 to 240 bytes are
   * mixed.
   */
  static final int SECRET_LAST = 136 - 17;

  private static final int STRIPE = 64;
  private static final int STRIPES_IN_BLOCK = 16;
  private static final int SECRET_OF_SCRAMBLE = 192 - STRIPE;
  private static final int SECRET_OF_LAST_STRIPE = 192 - STRIPE - 7;
  private static final int SECRET_OF_LOW = 11;
  private static final int SECRET_OF_HIGH = 192 - STRIPE - 11;

  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final byte[] SECRET =
      HexFormat.of()
          .parseHex(
              "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
                  + "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
                  + "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
                  + "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
                  + "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
                  + "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e");

  /** Eight bytes of the secret. */
  static long secret(int at) {
    return (long) WORD.get(SECRET, at);
  }

  /** The secret of long inputs with this seed. */
  static byte[] secretOf(long seed) {
    byte[] secret = new byte[SECRET.length];
    for (int at = 0; at < secret.length; at += 16) {
      WORD.set(secret, at, secret(at) + seed);
      WORD.set(secret, at + 8, secret(at + 8) - seed);
    }
    return secret;
  }

  /** The two halves of a product of 128 bits, in one word. */
  static long fold(long a, long b) {
    return a * b ^ Math.unsignedMultiplyHigh(a, b);
  }

  static long avalanche(long hash) {
    long h = (hash ^ hash >>> 37) * PRIME_MX1;
    return h ^ h >>> 32;
  }

  /** The avalanche of XXH64, which the shortest inputs use. */
  static long avalanche64(long hash) {
    long h = (hash ^ hash >>> 33) * PRIME64_2;
    h = (h ^ h >>> 29) * PRIME64_3;
    return h ^ h >>> 32;
  }

  /** Sixteen bytes of the input with as many of the secret. */
  static long mix(Loads loads, MemorySegment in, long at, int secretAt, long seed) {
    return fold(
        loads.word(in, at) ^ secret(secretAt) + seed,
        loads.word(in, at + 8) ^ secret(secretAt + 8) - seed);
  }

  /** One to three bytes in one word. */
  static long combined(Loads loads, MemorySegment in, long at, long length) {
    long first = loads.octet(in, at);
    long middle = loads.octet(in, at + (length >>> 1));
    long last = loads.octet(in, at + length - 1);
    return first << 16 | middle << 24 | last | length << 8;
  }

  /**
   * The hash of an input of more than {@link #SHORT_MAX} bytes.
   *
   * @param high receives the upper half of the 128-bit hash; null for the 64-bit hash, which equals
   *     the lower half
   */
  static long ofLong(
      Loads loads, MemorySegment in, long at, long length, byte[] secret, long[] high) {
    long a0 = PRIME32_3;
    long a1 = PRIME64_1;
    long a2 = PRIME64_2;
    long a3 = PRIME64_3;
    long a4 = PRIME64_4;
    long a5 = PRIME32_2;
    long a6 = PRIME64_5;
    long a7 = PRIME32_1;
    long stripes = (length - 1) / STRIPE;
    int inBlock = 0;
    for (long stripe = 0; stripe <= stripes; stripe++) {
      boolean last = stripe == stripes;
      long from = last ? at + length - STRIPE : at + stripe * STRIPE;
      int key = last ? SECRET_OF_LAST_STRIPE : 8 * inBlock;
      long w0 = loads.word(in, from);
      long w1 = loads.word(in, from + 8);
      long w2 = loads.word(in, from + 16);
      long w3 = loads.word(in, from + 24);
      long w4 = loads.word(in, from + 32);
      long w5 = loads.word(in, from + 40);
      long w6 = loads.word(in, from + 48);
      long w7 = loads.word(in, from + 56);
      a0 += w1 + product(w0 ^ word(secret, key));
      a1 += w0 + product(w1 ^ word(secret, key + 8));
      a2 += w3 + product(w2 ^ word(secret, key + 16));
      a3 += w2 + product(w3 ^ word(secret, key + 24));
      a4 += w5 + product(w4 ^ word(secret, key + 32));
      a5 += w4 + product(w5 ^ word(secret, key + 40));
      a6 += w7 + product(w6 ^ word(secret, key + 48));
      a7 += w6 + product(w7 ^ word(secret, key + 56));
      inBlock++;
      if (inBlock == STRIPES_IN_BLOCK && !last) {
        inBlock = 0;
        a0 = scrambled(a0, word(secret, SECRET_OF_SCRAMBLE));
        a1 = scrambled(a1, word(secret, SECRET_OF_SCRAMBLE + 8));
        a2 = scrambled(a2, word(secret, SECRET_OF_SCRAMBLE + 16));
        a3 = scrambled(a3, word(secret, SECRET_OF_SCRAMBLE + 24));
        a4 = scrambled(a4, word(secret, SECRET_OF_SCRAMBLE + 32));
        a5 = scrambled(a5, word(secret, SECRET_OF_SCRAMBLE + 40));
        a6 = scrambled(a6, word(secret, SECRET_OF_SCRAMBLE + 48));
        a7 = scrambled(a7, word(secret, SECRET_OF_SCRAMBLE + 56));
      }
    }
    if (high != null) {
      high[0] =
          avalanche(
              ~(length * PRIME64_2)
                  + merged(a0, a1, secret, SECRET_OF_HIGH)
                  + merged(a2, a3, secret, SECRET_OF_HIGH + 16)
                  + merged(a4, a5, secret, SECRET_OF_HIGH + 32)
                  + merged(a6, a7, secret, SECRET_OF_HIGH + 48));
    }
    return avalanche(
        length * PRIME64_1
            + merged(a0, a1, secret, SECRET_OF_LOW)
            + merged(a2, a3, secret, SECRET_OF_LOW + 16)
            + merged(a4, a5, secret, SECRET_OF_LOW + 32)
            + merged(a6, a7, secret, SECRET_OF_LOW + 48));
  }

  private static long word(byte[] secret, int at) {
    return (long) WORD.get(secret, at);
  }

  private static long product(long key) {
    return (key & 0xFFFF_FFFFL) * (key >>> 32);
  }

  private static long scrambled(long lane, long secret) {
    return (lane ^ lane >>> 47 ^ secret) * PRIME32_1;
  }

  private static long merged(long even, long odd, byte[] secret, int at) {
    return fold(even ^ word(secret, at), odd ^ word(secret, at + 8));
  }

  private Xxh3() {}
}
