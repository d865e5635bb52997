package io.erda.rdma.tcp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The first 64 bytes of either end: the protocol, its version, and a nonce for the proofs. The
 * layout is the same in all versions.
 */
final class Hello {
  static final int BYTES = 64;
  static final int NONCE_BYTES = 32;
  static final int PROOF_BYTES = 32;
  static final int VERSION = 4;

  /** A flag: this end has a secret, and requires a proof of it. */
  static final int HAS_SECRET = 1;

  /** "ERDATCP\0". */
  static final long MAGIC = 0x00_50_43_54_41_44_52_45L;

  private static final int FLIPPED_MAX = 4;

  /** The first bytes of TLS records: their kind, and a version. */
  private static final byte TLS_ALERT = 21;

  private static final byte TLS_HANDSHAKE = 22;
  private static final byte TLS_MAJOR = 3;

  private static final int VERSION_AT = 8;
  private static final int FLAGS_AT = 12;
  private static final int NONCE_AT = 16;
  private static final int ZEROS_AT = 48;
  private static final int CHECKSUM_AT = 60;

  /** Version 1 had zeros in the place of the checksum. */
  private static final int VERSION_WITHOUT_CHECKSUM = 1;

  static {
    assert NONCE_AT + NONCE_BYTES == ZEROS_AT
            && ZEROS_AT + Long.BYTES + Integer.BYTES == CHECKSUM_AT
            && CHECKSUM_AT + Integer.BYTES == BYTES
        : "the fields follow each other";
  }

  private Hello() {}

  /**
   * @param bytes the same memory; its position and limit change
   */
  static void put(
      CRC32C checksum,
      MemorySegment memory,
      ByteBuffer bytes,
      int at,
      boolean hasSecret,
      byte[] nonce) {
    Frame.putLong(memory, at, MAGIC);
    Frame.putInt(memory, at + VERSION_AT, VERSION);
    Frame.putInt(memory, at + FLAGS_AT, hasSecret ? HAS_SECRET : 0);
    MemorySegment.copy(nonce, 0, memory, ValueLayout.JAVA_BYTE, at + NONCE_AT, NONCE_BYTES);
    Frame.putLong(memory, at + ZEROS_AT, 0);
    Frame.putInt(memory, at + ZEROS_AT + 8, 0);
    Frame.putInt(memory, at + CHECKSUM_AT, Frame.checksum(checksum, bytes, at, CHECKSUM_AT));
  }

  /**
   * Whether the checksum of a HELLO of any version is right. REQUIRES: the whole HELLO has arrived.
   *
   * @param bytes the same memory; its position and limit change
   */
  static boolean isSound(CRC32C checksum, MemorySegment memory, ByteBuffer bytes, int at) {
    int said = Frame.getInt(memory, at + CHECKSUM_AT);
    return said == Frame.checksum(checksum, bytes, at, CHECKSUM_AT)
        || said == 0 && version(memory, at) == VERSION_WITHOUT_CHECKSUM;
  }

  static int version(MemorySegment memory, long at) {
    return Frame.getInt(memory, at + VERSION_AT);
  }

  /** Whether the bytes, at least 8, are the beginning of a HELLO. */
  static boolean begins(MemorySegment memory, long at) {
    return Frame.getLong(memory, at) == MAGIC;
  }

  /**
   * Whether 8 bytes are the beginning of a HELLO in which a few bits were changed. No other
   * protocol begins with such a word.
   */
  static boolean isDamagedMagic(MemorySegment memory, long at) {
    return Long.bitCount(Frame.getLong(memory, at) ^ MAGIC) <= FLIPPED_MAX;
  }

  /**
   * Whether the bytes, at least 2, come from a server with TLS that was called by a client without
   * TLS.
   */
  static boolean isTlsAlert(MemorySegment memory, long at) {
    return isTls(memory, at, TLS_ALERT);
  }

  /** Whether the bytes, at least 2, come from a client with TLS. */
  static boolean isTlsHandshake(MemorySegment memory, long at) {
    return isTls(memory, at, TLS_HANDSHAKE);
  }

  private static boolean isTls(MemorySegment memory, long at, byte kind) {
    return memory.get(ValueLayout.JAVA_BYTE, at) == kind
        && memory.get(ValueLayout.JAVA_BYTE, at + 1) == TLS_MAJOR;
  }

  /** Whether a HELLO is a valid one of this version. */
  static boolean isOurs(MemorySegment memory, long at) {
    return version(memory, at) == VERSION
        && (Frame.getInt(memory, at + FLAGS_AT) & ~HAS_SECRET) == 0
        && Frame.getLong(memory, at + ZEROS_AT) == 0
        && Frame.getInt(memory, at + ZEROS_AT + 8) == 0;
  }

  static boolean hasSecret(MemorySegment memory, long at) {
    return (Frame.getInt(memory, at + FLAGS_AT) & HAS_SECRET) != 0;
  }

  static byte[] nonce(MemorySegment memory, long at) {
    return memory.asSlice(at + NONCE_AT, NONCE_BYTES).toArray(ValueLayout.JAVA_BYTE);
  }
}
