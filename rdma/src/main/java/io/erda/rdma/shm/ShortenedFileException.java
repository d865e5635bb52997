package io.erda.rdma.shm;

import java.io.IOException;

/** A region's file is shorter than the region. The message names it, and both lengths. */
public final class ShortenedFileException extends IOException {
  private static final long serialVersionUID = 1L;

  ShortenedFileException(String message) {
    super(message);
  }
}
