package io.erda.rdma;

/** Receives completions. It may post work, and must not poll. */
@FunctionalInterface
public interface CompletionHandler {
  /**
   * One completion.
   *
   * @param wrId the ID given when the work was posted; 0 for {@link Opcode#CONNECT} and {@link
   *     Opcode#DISCONNECT}
   * @param opcode one of {@link Opcode}
   * @param status one of {@link Status}
   * @param byteLength the number of bytes that were moved, for opcodes that move bytes
   * @param imm immediate data of {@link Opcode#RECEIVE_IMM}, else 0
   */
  void onCompletion(long wrId, int opcode, int status, int byteLength, int imm);
}
