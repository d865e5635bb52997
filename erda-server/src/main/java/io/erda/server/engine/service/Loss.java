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
    /** The name of the directory; the files are sound. */
    DIRECTORY,
    /**
     * Names of files: they lead elsewhere, so that whoever opens the files by name finds other
     * contents.
     */
    FILES,
    /**
     * Bytes of a file: the device or the file system does not take them, and whoever opens the file
     * later may miss them.
     */
    BYTES
  }
}
