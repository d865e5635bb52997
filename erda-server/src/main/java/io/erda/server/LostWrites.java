package io.erda.server;

import io.erda.pmem.FileErrors;
import io.erda.pmem.MappedDirectory;
import io.erda.pmem.OpenDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.protocol.ErdaException;
import io.erda.server.engine.files.CommitsFile;
import io.erda.server.engine.files.UnwrittenMark;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds out, before a store is opened, whether its device failed to take bytes that were stored
 * earlier, and has them written once more. Their pages look as if they were stored for as long as
 * the kernel keeps them in memory.
 */
final class LostWrites {
  private LostWrites() {}

  /**
   * Writes all files once more if the device did not take bytes of them, whether an earlier server
   * has noticed that or nobody has. No client may store into the files any more.
   *
   * @param directory the directory of the store, locked
   * @return a line for the user; null when the device has taken everything
   * @throws ErdaException.Full when the device has no room for them now either
   * @throws ErdaException.Unusable when it still does not take them
   */
  static String writeAgain(MappedDirectory directory) throws IOException {
    boolean marked = UnwrittenMark.isIn(directory);
    List<String> errors = new ArrayList<>();
    OpenDirectory place = directory.opened();
    for (String name : directory.names()) {
      String error = place.writeError(name);
      if (error != null) {
        // It was told for the only time.
        UnwrittenMark.leave(place);
        errors.add(error);
      }
    }
    if (errors.isEmpty() && !marked) {
      return null;
    }
    requireNoCommits(directory);
    String before =
        "the device did not take bytes of the store before this start" + inWords(errors);
    long written;
    try {
      written = UnwrittenMark.writeAgain(directory);
    } catch (OutOfSpaceException e) {
      throw new ErdaException.Full(
          ErdaException.Full.What.DISK, before + ", and has no room now: " + e.getMessage());
    } catch (IOException e) {
      throw new ErdaException.Unusable(
          before
              + ", and does not take them now: "
              + FileErrors.inWords(e)
              + "; they may be lost as soon as the kernel needs the memory: back up what can be"
              + " read, with ?read-only behind the URI",
          e);
    }
    return before
        + "; all that was still in memory was written once more, %,d bytes. What the kernel had dropped before is lost: see what 'erda verify' finds"
            .formatted(written);
  }

  /**
   * Keeps clients from committing by themselves, and refuses the second write when one was stopped
   * in the middle: a word that it stores into a page after the page was read, and before it is
   * written, would be lost.
   */
  private static void requireNoCommits(MappedDirectory directory) throws IOException {
    try (CommitsFile commits = CommitsFile.open(directory)) {
      if (commits == null) {
        return;
      }
      commits.fence();
      if (!commits.standing().isEmpty()) {
        throw new ErdaException.Unusable(
            "the device did not take bytes of the store before this start, and they can't be"
                + " written once more while a client is stopped in the middle of a commit: end that"
                + " client, or let it go on");
      }
    }
  }

  private static String inWords(List<String> errors) {
    return switch (errors.size()) {
      case 0 -> "";
      case 1 -> " (" + errors.getFirst() + ")";
      default -> " (" + errors.getFirst() + ", and %d more)".formatted(errors.size() - 1);
    };
  }
}
