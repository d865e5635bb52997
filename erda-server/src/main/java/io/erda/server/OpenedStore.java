package io.erda.server;

import io.erda.hashtable.HashTable;
import io.erda.logstore.LogFiles;
import io.erda.logstore.LogGeometry;
import io.erda.pmem.AvailableMemory;
import io.erda.pmem.CopyOnWrite;
import io.erda.pmem.CountedDirectory;
import io.erda.pmem.DelayedDirectory;
import io.erda.pmem.FailedStoreException;
import io.erda.pmem.FileErrors;
import io.erda.pmem.MappedDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.NoRoomToStoreException;
import io.erda.pmem.OpenDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.StoreCounter;
import io.erda.pmem.UnwritableFileSystemException;
import io.erda.pmem.WriteDelay;
import io.erda.pmem.libc.Errno;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.protocol.PutMode;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import io.erda.server.engine.files.KeptStop;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.files.StoreWishes;
import io.erda.server.engine.files.UnwrittenMark;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A store's locked directory and its open {@link StoreEngine}, as long as this process holds them;
 * it serves no clients. Owns both.
 *
 * @param place the open directory of {@code data}; all files are found through it
 * @param files the names of its files
 * @param directory the directory as the engine uses it
 * @param shm the device for clients of other processes, which were fenced before the store was
 *     recovered; null when there never was one, and none could be made
 * @param firstStart the directories and the store that this opening has made
 * @param lostWrites what {@link LostWrites} has to say; null when it has nothing to say
 */
record OpenedStore(
    Path data,
    OpenDirectory place,
    NamedFiles files,
    MemoryDirectory directory,
    StoreEngine engine,
    StoreCounter counter,
    ShmDevice shm,
    FirstStart firstStart,
    String lostWrites)
    implements AutoCloseable {
  /** The purpose for which a store is opened. */
  enum Purpose {
    /** The store is served to the processes of this host. It is created if it does not exist. */
    SERVE,
    /** The store is used only in this process. It is created if it does not exist. */
    HOLD
  }

  /**
   * Opens the store in {@code data}, or creates it there. It first takes over {@code shm/}: clients
   * of an earlier server may still live, so they are fenced before recovery reads what they wrote,
   * and counted as long as the store is open. A failed opening leaves no new store behind.
   *
   * @throws ErdaException with a message of one line
   */
  static OpenedStore open(Path data, ServerOptions options, Purpose purpose) {
    StoreCounter counter = options.counted() ? new StoreCounter() : null;
    FirstStart firstStart = FirstStart.before(data);
    MappedDirectory mapped = directory(data, firstStart);
    OpenDirectory place = mapped.opened();
    NamedFiles files = new NamedFiles(mapped, place);
    MemoryDirectory directory = decorated(files, options, counter);
    ShmDevice shm = null;
    KeptStop stop = null;
    boolean locked = false;
    boolean done = false;
    try {
      locked = directory.lock();
      if (!locked) {
        throw inUse(data);
      }
      requireFound(data, place);
      requireStoreOrEmpty(place);
      requireNoHardLinks(place);
      options.wishes().require(directory);
      StoreGeometry creation = null;
      if (!directory.exists(StoreFiles.SUPERBLOCK)) {
        creation = creation(options);
        requireRoom(data, directory, creation);
        firstStart.makesStore();
      }
      StoreAccess.set(place, options);
      CopyOnWrite.avoid(place.at("."));
      shm = takeOver(place, options, purpose, creation == null);
      String lostWrites = LostWrites.writeAgain(mapped);
      stop = KeptStop.of(directory);
      StoreEngine engine = opened(directory, creation, options.wishes(), options.promise());
      done = true;
      return new OpenedStore(
          data, place, files, directory, engine, counter, shm, firstStart, lostWrites);
    } catch (ErdaException.Full e) {
      throw new ErdaException.Full(
          e.what(), e.getMessage() + ProcessLimits.explain(options.regionBytes()));
    } catch (OutOfSpaceException e) {
      throw new ErdaException.Full(ErdaException.Full.What.DISK, e.getMessage());
    } catch (ErdaException.Unusable e) {
      if (e.getCause() instanceof AccessDeniedException denied) {
        throw new ErdaException.Unusable("can't open " + data + ": " + reason(denied), e);
      }
      throw e;
    } catch (IOException e) {
      throw new ErdaException.Unusable("can't open " + data + ": " + reason(e), e);
    } catch (UncheckedIOException e) {
      throw new ErdaException.Unusable("can't open " + data + ": " + reason(e.getCause()), e);
    } finally {
      if (!done) {
        if (place.lost() != null) {
          UnwrittenMark.leave(place);
        }
        if (stop != null) {
          stop.putBack();
        }
        if (shm != null) {
          shm.close();
        }
        if (locked) {
          firstStart.undo(directory, place);
        }
        directory.close();
      }
    }
  }

  /**
   * Opens the same store once more, as after a kill, while this object lives. This is for a store
   * whose file system became full in the middle of work. No thread may write to the store's memory
   * during the call. A caller that goes on with the new object closes only the engine of this one.
   *
   * @throws ErdaException when the opening fails; then this object is unchanged. After the device
   *     did not take bytes every further one fails
   */
  OpenedStore again() {
    if (place.lost() != null) {
      throw new ErdaException.Full(ErdaException.Full.What.DISK, place.lost());
    }
    StoreEngine engine = opened(directory, null, StoreWishes.NONE, null);
    return new OpenedStore(
        data, place, files, directory, engine, counter, shm, firstStart, lostWrites);
  }

  /**
   * @param creation the geometry of a store that may be new; null when the store must exist
   * @param wishes the shape that the store gets from now on
   * @param wanted the requested promise; null for the promise that the store has
   */
  private static StoreEngine opened(
      MemoryDirectory directory, StoreGeometry creation, StoreWishes wishes, Promise wanted) {
    try {
      return StoreOpening.open(directory, creation, wishes, wanted, new SecureRandom());
    } catch (NoRoomToStoreException e) {
      throw new ErdaException.Full(ErdaException.Full.What.DISK, e.getMessage());
    } catch (FailedStoreException e) {
      throw new ErdaException.Unusable("the store can't be opened: " + e.getMessage(), e);
    }
  }

  /**
   * Takes over {@code shm/}. Returns null when the opening serves no clients, {@code shm/} did not
   * exist, and the mark that the store is in use can't be made: then no client has to be fenced,
   * and a full file system must not prevent the opening.
   *
   * @param opened whether the store was there before
   */
  private static ShmDevice takeOver(
      OpenDirectory place, ServerOptions options, Purpose purpose, boolean opened)
      throws IOException {
    Path shm = place.file(Protocol.SHM_DIRECTORY);
    if (purpose == Purpose.SERVE) {
      return ShmDevice.open(
          ShmOptions.toServe(shm, System::nanoTime)
              .in(place)
              .opened(opened)
              .withWrites(options.counted(), options.writeLatencyNs()));
    }
    boolean served = place.exists(Protocol.SHM_DIRECTORY);
    try {
      return ShmDevice.open(ShmOptions.toHold(shm, System::nanoTime).in(place).opened(opened));
    } catch (IOException e) {
      if (served) {
        throw e;
      }
      return null;
    }
  }

  private static StoreGeometry creation(ServerOptions options) {
    try {
      PutMode mode = options.putMode() == null ? PutMode.PUBLISH : options.putMode();
      return new StoreGeometry(options.geometry(), options.buckets(), mode);
    } catch (IllegalArgumentException e) {
      throw new ErdaException.BadArgument(e.getMessage());
    }
  }

  /** The words for a process that may not use a directory which it has just made. */
  private static final String UMASK =
      "; the umask of this process takes the owner's own rights to the directories that it makes:"
          + " umask 077";

  private static MappedDirectory directory(Path data, FirstStart firstStart) {
    boolean done = false;
    try {
      StoreAccess.createDirectory(data);
      MappedDirectory directory = MappedDirectory.open(data);
      done = true;
      return directory;
    } catch (AccessDeniedException e) {
      throw new ErdaException.Unusable(
          "permission denied: " + e.getMessage() + (firstStart.hasMadeDirectory() ? UMASK : ""), e);
    } catch (NoSuchFileException e) {
      throw new ErdaException.Unusable("no such directory: " + data, e);
    } catch (NotDirectoryException | FileAlreadyExistsException e) {
      throw new ErdaException.Unusable("not a directory: " + data, e);
    } catch (IOException e) {
      throw new ErdaException.Unusable("can't open " + data + ": " + reason(e), e);
    } finally {
      if (!done) {
        firstStart.undoDirectories();
      }
    }
  }

  /**
   * Throws unless the directory, which is locked now, still has its name. Another opening may have
   * failed in the meantime and removed the directory that it had made.
   */
  private static void requireFound(Path data, OpenDirectory place) {
    if (place.strayed() != null) {
      throw new ErdaException.Unusable(
          data + " was removed or renamed while it was being opened; try again");
    }
  }

  /**
   * Returns the exception for a locked directory. The lock does not show whether this process or
   * another one holds it.
   */
  static ErdaException.Unusable inUse(Path data) {
    return new ErdaException.Unusable(
        "store is in use by another process, or is open in this one already: " + data);
  }

  /**
   * Returns the reason of an exception in words. The JDK sometimes expresses it only by the
   * exception's type.
   */
  static String reason(IOException e) {
    return switch (e) {
      case AccessDeniedException denied ->
          "permission denied: " + denied.getFile() + ofAnotherUser(Path.of(denied.getFile()));
      case FileAlreadyExistsException exists -> "not a directory: " + exists.getFile();
      case NoSuchFileException missing -> "no such file or directory: " + missing.getFile();
      case FileSystemException unwritable when isUnwritable(unwritable) ->
          unwritable.getFile()
              + " is on a file system that is read-only, as it was mounted or since it failed ("
              + unwritable.getReason()
              + "): remount it, or use another directory; what is there can be read with ?read-only"
              + " behind the URI";
      default -> FileErrors.inWords(e);
    };
  }

  /** Whether it is EROFS, for which the JDK has no type. */
  private static boolean isUnwritable(FileSystemException e) {
    return e instanceof UnwritableFileSystemException || Errno.EROFS.words().equals(e.getReason());
  }

  /**
   * The owner of a file, and the command that gives it to this user; empty when this user owns it.
   */
  private static String ofAnotherUser(Path file) {
    try {
      Object self = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
      // The file may be the store's directory itself; what lies beside it is no concern of Erda's.
      Path directory = Files.isDirectory(file) ? file : file.getParent();
      return directory == null || Files.getAttribute(file, "unix:uid").equals(self)
          ? ""
          : " belongs to the user %s; as the superuser: chown -R %s %s"
              .formatted(Files.getOwner(file).getName(), name(self), directory);
    } catch (IOException e) {
      return "";
    }
  }

  /** The name of this user; the number when it has none, for which the JDK says “?”. */
  private static String name(Object uid) {
    String name = System.getProperty("user.name");
    return name.equals("?") ? uid.toString() : name;
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

  /**
   * Returns what is to be told of the opening, one line each: what was lost before, and the actions
   * of recovery.
   */
  List<String> notes() {
    return Stream.concat(Stream.ofNullable(lostWrites), engine.recovery().notes().stream())
        .toList();
  }

  /**
   * Adds figures for the fill of disk and memory, and for the server's stores when they are
   * counted.
   */
  void addFigures(ServerCore core) {
    core.figure("disk.bytes.free", () -> known(place.usableBytes()));
    core.figure("disk.bytes.total", () -> known(place.totalBytes()));
    core.figure("server.memory.bytes", AvailableMemory::bytes);
    core.figure("server.pages.alone", () -> directory.readsAlone() ? 1 : 0);
    if (counter != null) {
      core.figure("pmem.stores", () -> counter.statistics().stores());
      core.figure("pmem.bytes.stored", () -> counter.statistics().bytesStored());
      core.figure("pmem.bytes.changed", () -> counter.statistics().bytesChanged());
      core.figure("pmem.lines.flushed", () -> counter.statistics().linesFlushed());
      core.figure("pmem.drains", () -> counter.statistics().drains());
    }
  }

  /** The figure of {@code stats} for a number of bytes: −1 when the file system does not tell. */
  private static long known(long bytes) {
    return bytes == Long.MAX_VALUE ? -1 : bytes;
  }

  /**
   * Throws for a store whose files have hard links in another directory. Such a copy consists of
   * the same files, but its directory has another lock. So two servers could store into the same
   * bytes, and even a single server would change the copy.
   */
  private static void requireNoHardLinks(OpenDirectory place) throws IOException {
    String shared = place.hardLinked();
    if (shared != null) {
      throw new ErdaException.Unusable(
          "can't open "
              + place
              + ": its file "
              + shared
              + " has a hard link outside of the directory, so whatever is stored here would change"
              + " there too; remove the other directory (find -samefile "
              + place.file(shared)
              + " finds it), or make one of the two a copy of its own with cp -a");
    }
  }

  private static void requireStoreOrEmpty(OpenDirectory data) throws IOException {
    if (data.exists(StoreFiles.SUPERBLOCK)) {
      return;
    }
    boolean begun = data.exists(LogFiles.REGIONS);
    Optional<String> foreign =
        data.names().stream().filter(name -> !replaceable(name, begun)).sorted().findFirst();
    if (foreign.isPresent()) {
      throw new ErdaException.Unusable(
          data
              + " is neither a store nor empty: it holds "
              + foreign.get()
              + " and no "
              + StoreFiles.SUPERBLOCK);
    }
  }

  /**
   * Throws unless there is room for a new store: its table, a region for each head and one more.
   * Cleaning copies objects into the additional region. Without it a full store would stay full
   * even when keys are deleted.
   */
  private static void requireRoom(Path data, MemoryDirectory directory, StoreGeometry creation) {
    LogGeometry log = creation.geometry();
    int regions = Math.min(log.heads() + 1, log.regionsMax());
    long table = HashTable.bytesFor(creation.buckets());
    long needed = table + regions * log.regionBytes();
    long usable = directory.usableBytes();
    if (usable < needed) {
      throw new ErdaException.Full(
          ErdaException.Full.What.DISK,
          String.format(
              Locale.ROOT,
              "no room for a new store in %s: a table of %,d bytes and %d regions of %,d take %,d,"
                  + " the file system has %,d; choose smaller regions (--region-bytes)",
              data,
              table,
              regions,
              log.regionBytes(),
              needed,
              usable));
    }
  }

  /**
   * Whether a creation may replace a file of this name, because an interrupted creation may have
   * left it. The test is strict: regions without a superblock belong to a store that lost its
   * superblock, and a foreign file may have a similar name.
   */
  private static boolean replaceable(String name, boolean begun) {
    return name.equals("lost+found")
        || name.equals(LogFiles.REGIONS)
        || name.equals(Protocol.SHM_DIRECTORY)
        || (begun && StoreFiles.MADE_AFTER_REGIONS.contains(name));
  }

  /**
   * Closes the store because it could not be served, and removes it if this opening has made it.
   */
  void closeUnserved() {
    close(() -> firstStart.undo(directory, place));
  }

  @Override
  public void close() {
    close(() -> {});
  }

  private void close(Runnable atTheEnd) {
    try {
      engine.close();
    } finally {
      try {
        if (place.lost() != null) {
          UnwrittenMark.leave(place);
        }
        if (shm != null) {
          shm.close();
        }
        atTheEnd.run();
      } finally {
        directory.close();
      }
    }
  }
}
