package io.erda.rdma.tcp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The first 64 bytes of either end: who speaks, which version, and a nonce for the proofs. */
final class Hello {
  static final int BYTES = 64;
  static final int NONCE_BYTES = 32;
  static final int PROOF_BYTES = 32;
  static final int VERSION = 1;

  /** Flag: this end has a secret, and wants a proof of it. */
  static final int HAS_SECRET = 1;

  /** "ERDATCP\0". */
  static final long MAGIC = 0x00_50_43_54_41_44_52_45L;

  /** How records of TLS begin: their kind, and a version. */
  private static final byte TLS_ALERT = 21;

  private static final byte TLS_HANDSHAKE = 22;
  private static final byte TLS_MAJOR = 3;

  private static final int VERSION_AT = 8;
  private static final int FLAGS_AT = 12;
  private static final int NONCE_AT = 16;
  private static final int ZEROS_AT = 48;

  private Hello() {}

  static void put(MemorySegment memory, long at, boolean hasSecret, byte[] nonce) {
    Frame.putLong(memory, at, MAGIC);
    Frame.putInt(memory, at + VERSION_AT, VERSION);
    Frame.putInt(memory, at + FLAGS_AT, hasSecret ? HAS_SECRET : 0);
    MemorySegment.copy(nonce, 0, memory, ValueLayout.JAVA_BYTE, at + NONCE_AT, NONCE_BYTES);
    Frame.putLong(memory, at + ZEROS_AT, 0);
    Frame.putLong(memory, at + ZEROS_AT + 8, 0);
  }

  /** Whether the bytes that are there, 8 at least, may begin a HELLO. */
  static boolean begins(MemorySegment memory, long at) {
    return Frame.getLong(memory, at) == MAGIC;
  }

  /** Whether the bytes, 2 at least, are of a server that wants TLS and was spoken to without. */
  static boolean isTlsAlert(MemorySegment memory, long at) {
    return isTls(memory, at, TLS_ALERT);
  }

  /** Whether the bytes, 2 at least, are of a client that wants TLS. */
  static boolean isTlsHandshake(MemorySegment memory, long at) {
    return isTls(memory, at, TLS_HANDSHAKE);
  }

  private static boolean isTls(MemorySegment memory, long at, byte kind) {
    return memory.get(ValueLayout.JAVA_BYTE, at) == kind
        && memory.get(ValueLayout.JAVA_BYTE, at + 1) == TLS_MAJOR;
  }

  static boolean isOurVersion(MemorySegment memory, long at) {
    return Frame.getInt(memory, at + VERSION_AT) == VERSION
        && (Frame.getInt(memory, at + FLAGS_AT) & ~HAS_SECRET) == 0
        && Frame.getLong(memory, at + ZEROS_AT) == 0
        && Frame.getLong(memory, at + ZEROS_AT + 8) == 0;
  }

  static boolean hasSecret(MemorySegment memory, long at) {
    return (Frame.getInt(memory, at + FLAGS_AT) & HAS_SECRET) != 0;
  }

  static byte[] nonce(MemorySegment memory, long at) {
    return memory.asSlice(at + NONCE_AT, NONCE_BYTES).toArray(ValueLayout.JAVA_BYTE);
  }
}
