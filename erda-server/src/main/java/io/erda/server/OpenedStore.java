package io.erda.server;

import io.erda.pmem.CountedDirectory;
import io.erda.pmem.DelayedDirectory;
import io.erda.pmem.MappedDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.StoreCounter;
import io.erda.pmem.WriteDelay;
import io.erda.protocol.ErdaException;
import io.erda.server.engine.ServerCore;
import io.erda.server.engine.StoreEngine;
import io.erda.server.engine.StoreOptions;
import io.erda.server.engine.TableLimits;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** A directory that is locked and whose store is open. Owns both. */
record OpenedStore(MemoryDirectory directory, StoreEngine engine, StoreCounter counter)
    implements AutoCloseable {
  private static final String SUPERBLOCK = "superblock";
  private static final String REGIONS = "regions";

  /** What an interrupted creation may have left besides {@link #REGIONS}, which it makes first. */
  private static final Set<String> UNFINISHED = Set.of("root", "table-1", "superblock.new");

  /** Something to do between locking the directory and recovering the store. */
  interface BeforeRecovery {
    void run() throws IOException;
  }

  /**
   * Opens the store in {@code data}, or creates it there.
   *
   * @param create whether to create directory and store where there is none
   * @param before fences what clients of an earlier server still hold, so that nothing of theirs
   *     lands behind recovery's back
   * @throws ErdaException with one line that says what is wrong
   */
  static OpenedStore open(Path data, ServerOptions options, boolean create, BeforeRecovery before) {
    StoreOptions creation = creation(options);
    StoreCounter counter = options.counted() ? new StoreCounter() : null;
    MemoryDirectory directory = decorated(directory(data, create), options, counter);
    boolean done = false;
    try {
      if (!directory.lock()) {
        throw new ErdaException.Unusable("store is in use by another process: " + data);
      }
      requireStoreOrEmpty(data, create);
      before.run();
      StoreEngine engine =
          StoreEngine.open(
              directory, create ? creation : null, options.promise(), new SecureRandom());
      TableLimits growth = TableLimits.DEFAULT;
      engine
          .growth()
          .limits(new TableLimits(options.bucketsMax(), growth.stretchSlots(), growth.graceNs()));
      done = true;
      return new OpenedStore(directory, engine, counter);
    } catch (ErdaException.Full e) {
      throw new ErdaException.Full(
          e.what(), e.getMessage() + Limits.explain(options.regionBytes()));
    } catch (OutOfSpaceException e) {
      throw new ErdaException.Full(ErdaException.Full.What.DISK, e.getMessage());
    } catch (IOException e) {
      throw new ErdaException.Unusable("can't open " + data + ": " + reason(e), e);
    } finally {
      if (!done) {
        directory.close();
      }
    }
  }

  private static StoreOptions creation(ServerOptions options) {
    try {
      return new StoreOptions(options.geometry(), options.buckets());
    } catch (IllegalArgumentException e) {
      throw new ErdaException.BadArgument(e.getMessage());
    }
  }

  private static MemoryDirectory directory(Path data, boolean create) {
    try {
      if (create) {
        Files.createDirectories(data);
      } else {
        // Not Files.exists: to it, what may not be looked at does not exist.
        Files.readAttributes(data, BasicFileAttributes.class);
      }
      return MappedDirectory.open(data);
    } catch (AccessDeniedException e) {
      throw new ErdaException.Unusable("permission denied: " + e.getMessage(), e);
    } catch (NoSuchFileException e) {
      throw new ErdaException.Unusable("no such directory: " + data, e);
    } catch (NotDirectoryException | FileAlreadyExistsException e) {
      throw new ErdaException.Unusable("not a directory: " + data, e);
    } catch (IOException e) {
      throw new ErdaException.Unusable("can't open " + data + ": " + reason(e), e);
    }
  }

  /** The JDK says with the type alone what was wrong with a file. */
  static String reason(IOException e) {
    return switch (e) {
      case AccessDeniedException denied -> "permission denied: " + denied.getFile();
      case FileAlreadyExistsException exists -> "not a directory: " + exists.getFile();
      case NoSuchFileException missing -> "no such file or directory: " + missing.getFile();
      default -> e.getMessage();
    };
  }

  private static MemoryDirectory decorated(
      MemoryDirectory directory, ServerOptions options, StoreCounter counter) {
    MemoryDirectory decorated = directory;
    if (options.writeLatencyNs() > 0) {
      decorated =
          new DelayedDirectory(
              decorated, WriteDelay.perStore(options.writeLatencyNs()), System::nanoTime);
    }
    return counter == null ? decorated : new CountedDirectory(decorated, counter);
  }

  /** Shows what the server stores, where it is counted. */
  void addFigures(ServerCore core) {
    if (counter != null) {
      core.figure("pmem.stores", () -> counter.statistics().stores());
      core.figure("pmem.bytes.stored", () -> counter.statistics().bytesStored());
      core.figure("pmem.bytes.changed", () -> counter.statistics().bytesChanged());
      core.figure("pmem.lines.flushed", () -> counter.statistics().linesFlushed());
      core.figure("pmem.drains", () -> counter.statistics().drains());
    }
  }

  private static void requireStoreOrEmpty(Path data, boolean create) throws IOException {
    if (Files.exists(data.resolve(SUPERBLOCK))) {
      return;
    }
    if (!create) {
      throw new ErdaException.Unusable("there is no store in " + data);
    }
    boolean begun = Files.exists(data.resolve(REGIONS));
    try (Stream<Path> files = Files.list(data)) {
      Optional<String> foreign =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> !replaceable(name, begun))
              .sorted()
              .findFirst();
      if (foreign.isPresent()) {
        throw new ErdaException.Unusable(
            data
                + " is neither a store nor empty: it holds "
                + foreign.get()
                + " and no "
                + SUPERBLOCK);
      }
    }
  }

  /**
   * Whether a creation may go on where this lies. It replaces what an interrupted one left, so
   * nothing else may pass for that: regions without a superblock are a store that lost it, and a
   * stranger's file may be called almost like ours.
   */
  private static boolean replaceable(String name, boolean begun) {
    return name.equals("lost+found")
        || name.equals(REGIONS)
        || name.equals("shm")
        || (begun && UNFINISHED.contains(name));
  }

  @Override
  public void close() {
    try {
      engine.close();
    } finally {
      directory.close();
    }
  }
}
