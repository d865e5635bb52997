package io.erda.rdma;

import java.util.ArrayList;
import java.util.List;

/** A completion handler that remembers. */
final class Recorder implements CompletionHandler {
  record Completion(long wrId, int opcode, int status, int byteLength, int imm) {}

  final List<Completion> all = new ArrayList<>();

  @Override
  public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
    all.add(new Completion(wrId, opcode, status, byteLength, imm));
  }

  boolean has(int opcode) {
    return all.stream().anyMatch(c -> c.opcode() == opcode);
  }

  Completion last() {
    return all.getLast();
  }

  Completion first(int opcode) {
    return all.stream().filter(c -> c.opcode() == opcode).findFirst().orElseThrow();
  }

  List<Completion> of(int opcode) {
    return all.stream().filter(c -> c.opcode() == opcode).toList();
  }
}
