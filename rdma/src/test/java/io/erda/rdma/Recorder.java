package io.erda.rdma;

import java.util.ArrayList;
import java.util.List;

/** A completion handler that remembers. */
public final class Recorder implements CompletionHandler {
  public record Completion(long wrId, int opcode, int status, int byteLength, int imm) {}

  public final List<Completion> all = new ArrayList<>();

  @Override
  public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
    all.add(new Completion(wrId, opcode, status, byteLength, imm));
  }

  public boolean has(int opcode) {
    return all.stream().anyMatch(c -> c.opcode() == opcode);
  }

  public Completion last() {
    return all.getLast();
  }

  public Completion first(int opcode) {
    return all.stream().filter(c -> c.opcode() == opcode).findFirst().orElseThrow();
  }

  public List<Completion> of(int opcode) {
    return all.stream().filter(c -> c.opcode() == opcode).toList();
  }
}
