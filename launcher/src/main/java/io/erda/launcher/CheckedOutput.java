package io.erda.launcher;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Standard output that remembers a failed write, whose reason {@link java.io.PrintStream} and
 * {@link java.io.PrintWriter} swallow. Later output is dropped.
 */
final class CheckedOutput extends OutputStream {
  private final OutputStream out;
  private volatile IOException failure;

  CheckedOutput(OutputStream out) {
    this.out = out;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    if (failure != null) {
      throw failure;
    }
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  /** Why a write failed, or null. */
  IOException failure() {
    return failure;
  }

  /** Whether the reader of the output has left, as when the next command of a pipe has ended. */
  boolean readerLeft() {
    return failure != null && "Broken pipe".equals(failure.getMessage());
  }
}
