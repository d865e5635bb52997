package io.erda.simulation.history;

/** The kinds of operations. The order is part of the log's format. */
public enum OperationKind {
  PUT,
  GET,
  DELETE,
  /** A put that is done only if the key has a certain value, or none. */
  PUT_IF,
  /** A delete that is done only if the key has a certain value. */
  DELETE_IF;

  /** Whether the operation stores a value. */
  public boolean puts() {
    return this == PUT || this == PUT_IF;
  }

  /** Whether the operation is done only if the key has the expected value. */
  public boolean isConditional() {
    return this == PUT_IF || this == DELETE_IF;
  }
}
