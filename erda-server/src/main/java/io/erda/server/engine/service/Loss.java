package io.erda.server.engine.service;

/**
 * Why an open store can't be trusted to be found again as it is now.
 *
 * @param words for a user
 * @param of what was lost
 */
public record Loss(String words, Of of) {
  /** What was lost. */
  public enum Of {
    /** The name of the directory, or its file system; the files are sound. */
    DIRECTORY,
    /**
     * Names of files: they lead elsewhere, so that whoever opens the files by name finds other
     * contents.
     */
    FILES,
    /** Bytes of a file: the device did not take them, and whoever opens it later may miss them. */
    BYTES
  }
}
