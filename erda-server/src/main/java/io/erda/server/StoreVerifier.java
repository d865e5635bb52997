package io.erda.server;

import io.erda.hashtable.KeyHash;
import io.erda.hashtable.KeyHashing;
import io.erda.logstore.LogFiles;
import io.erda.pmem.OpenDirectory;
import io.erda.pmem.OverlayDirectory;
import io.erda.protocol.ErdaException;
import io.erda.server.engine.files.StopRecord;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.files.UnwrittenMark;
import io.erda.server.engine.inspection.Findings;
import io.erda.server.engine.inspection.StoreInspection;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/** Checks a store that no server has open. */
public final class StoreVerifier {
  private static final int NAMED_MAX = 5;

  private StoreVerifier() {}

  /** Receives the progress of a check. */
  public interface Progress {
    /**
     * Called when the check has made progress.
     *
     * @param what the kind of things that are counted, in words
     */
    void at(String what, long done, long all);
  }

  /** As {@link #verify(Path, Progress, LongFunction)}, with the hash that stores use. */
  public static VerifyReport verify(Path data, Progress progress) {
    return verify(data, progress, KeyHash::new);
  }

  /** As {@link #verify(Path, Progress)}, without progress. */
  public static VerifyReport verify(Path data) {
    return verify(data, (what, done, all) -> {});
  }

  /**
   * Checks every entry and object of the store in {@code data}, as they would be after a start of a
   * server. Recovery takes place only in the memory of this process: no file of the directory
   * changes, and permission to read is enough. Clients of a killed server may go on reading and
   * storing during the check.
   *
   * @param hashings the hash of keys by seed, with which every key's entry is compared; another
   *     implementation than that of stores makes the check independent
   * @throws ErdaException.Unusable when the store is in use, foreign, or of another version
   * @throws ErdaException.Damaged when the structures of the store can't be opened at all
   */
  public static VerifyReport verify(
      Path data, Progress progress, LongFunction<? extends KeyHashing> hashings) {
    try (OverlayDirectory directory = OverlayDirectory.open(data)) {
      if (!directory.lock()) {
        throw OpenedStore.inUse(data);
      }
      return verify(data, directory, progress, hashings);
    } catch (NoSuchFileException e) {
      throw new ErdaException.Unusable("no such directory: " + data, e);
    } catch (NotDirectoryException e) {
      throw new ErdaException.Unusable("not a directory: " + data, e);
    } catch (IOException e) {
      throw new ErdaException.Unusable("can't open " + data + ": " + OpenedStore.reason(e), e);
    } catch (UncheckedIOException e) {
      throw new ErdaException.Unusable(
          "can't read " + data + ": " + OpenedStore.reason(e.getCause()), e);
    }
  }

  /**
   * Compares the tables of a store that was stopped cleanly, and that no server has opened since,
   * with the checksums that the server left. A client that only reads ({@code ?read-only}) does not
   * do so: it would miss the keys of damaged entries without noticing.
   *
   * @return the differences, one sentence each; empty where there are none, where the store was not
   *     stopped cleanly or a server is there, and where a file can't be read
   */
  public static List<String> changesSinceStop(Path data) {
    try (OverlayDirectory directory = OverlayDirectory.open(data)) {
      StopRecord.Verdict stopped = StoreOpening.compareWithStop(directory);
      // A server that started meanwhile removed the record before it stored anything.
      return stopped.state() == StopRecord.State.DIFFERS && directory.exists(StoreFiles.STOPPED)
          ? stopped.words()
          : List.of();
    } catch (IOException | UncheckedIOException | ErdaException e) {
      // A client of the store is told the same error when it connects.
      return List.of();
    }
  }

  /**
   * Whether an earlier server has noticed that the device did not take bytes of the store, and no
   * server was started since. Keys may be missing then.
   */
  public static boolean isUnwritten(Path data) {
    try (OpenDirectory directory = OpenDirectory.openToPass(data)) {
      return UnwrittenMark.isIn(directory);
    } catch (IOException | UncheckedIOException e) {
      // A client of the store is told the same error when it connects.
      return false;
    }
  }

  private static VerifyReport verify(
      Path data,
      OverlayDirectory directory,
      Progress progress,
      LongFunction<? extends KeyHashing> hashings)
      throws IOException {
    VerifyReport report = null;
    ErdaException failure = null;
    try {
      requireSuperblock(data, directory);
      try (StoreEngine engine = StoreOpening.look(directory, new SecureRandom())) {
        report = inspect(engine, UnwrittenMark.isIn(directory), progress, hashings);
      }
    } catch (ErdaException e) {
      failure = e;
    }
    requireThere(data, directory.opened(), failure);
    if (failure != null) {
      throw failure;
    }
    return report;
  }

  /**
   * Throws a better exception when the directory lost its name during the check, because its files
   * may be being removed.
   */
  private static void requireThere(Path data, OpenDirectory directory, ErdaException failure) {
    OpenDirectory.Stray stray = directory.strayed();
    if (stray != null) {
      throw new ErdaException.Unusable(
          data
              + " was renamed, replaced or removed while it was verified: "
              + stray.named()
              + (stray.removed() ? "; it was removed" : "")
              + (stray.now() == null ? "" : "; verify it where it is: " + stray.now()),
          failure);
    }
  }

  private static VerifyReport inspect(
      StoreEngine engine,
      boolean unwritten,
      Progress progress,
      LongFunction<? extends KeyHashing> hashings) {
    Told told = new Told();
    if (unwritten) {
      told.found(
          null,
          "the device did not take bytes of the store, which may be in memory alone, or lost: when"
              + " the device takes bytes again start a server, which writes once more what is in"
              + " memory");
    }
    StoreInspection inspection = new StoreInspection(engine, told, hashings);
    inspection.run(progress::at);
    return new VerifyReport(
        inspection.proven(),
        inspection.entries(),
        inspection.values(),
        inspection.tombstones(),
        inspection.undecided(),
        inspection.damaged(),
        told.findings,
        told.findingsCount,
        told.doubts,
        told.doubtsCount,
        engine.recovery().notes());
  }

  private static final class Told implements Findings {
    final List<VerifyReport.Finding> findings = new ArrayList<>();
    final List<VerifyReport.Finding> doubts = new ArrayList<>();
    long findingsCount;
    long doubtsCount;

    @Override
    public void found(byte[] key, String what) {
      findingsCount++;
      keep(findings, key, what);
    }

    @Override
    public void doubtful(byte[] key, String what) {
      doubtsCount++;
      keep(doubts, key, what);
    }

    private static void keep(List<VerifyReport.Finding> kept, byte[] key, String what) {
      if (kept.size() < VerifyReport.KEPT_MAX) {
        kept.add(new VerifyReport.Finding(key, what));
      }
    }
  }

  /** Whether a name is one of a store's files other than the superblock. */
  private static boolean isOfAStore(String name) {
    return name.equals(StoreFiles.ROOT)
        || name.equals(LogFiles.REGIONS)
        || StoreFiles.isTable(name)
        || LogFiles.isRegion(name);
  }

  /** Distinguishes a store that has lost only its superblock from a directory without a store. */
  private static void requireSuperblock(Path data, OverlayDirectory directory) throws IOException {
    List<String> names = directory.names();
    if (names.contains(StoreFiles.SUPERBLOCK)) {
      return;
    }
    List<String> ofAStore = names.stream().filter(StoreVerifier::isOfAStore).toList();
    if (ofAStore.isEmpty()) {
      throw new ErdaException.Unusable("there is no store in " + data);
    }
    throw new ErdaException.Damaged(
        data
            + " holds "
            + (ofAStore.size() <= NAMED_MAX
                ? String.join(", ", ofAStore)
                : String.join(", ", ofAStore.subList(0, NAMED_MAX)) + " …")
            + " and no superblock: either the store has lost it, or its creation was interrupted");
  }
}
