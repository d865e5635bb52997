package io.erda.launcher.doctor;

import io.erda.launcher.posix.OwnProcess;
import io.erda.logstore.LogFiles;
import io.erda.pmem.Listing;
import io.erda.protocol.Commits;
import io.erda.protocol.Protocol;
import io.erda.server.engine.files.StoreFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The directory of a store: who may use it, what it holds, and how much room there is. */
final class DirectoryFindings {
  /** Files that do not prevent a server from creating a store there. */
  private static final Set<String> REPLACEABLE = Set.of("regions", "shm", "lost+found");

  /** Files that an interrupted creation may leave besides, once it has made the file of regions. */
  private static final Set<String> MADE_AFTER_REGIONS = Set.of("root", "table-1", "superblock.new");

  /**
   * Number of files of a store without clients: its own, two more regions, and queue files made
   * ahead.
   */
  private static final long FILES_OF_NEW_STORE = 64;

  static List<Finding> of(Surroundings surroundings) {
    return List.of(
        directory(surroundings),
        SpaceFinding.of(surroundings, room(surroundings)),
        files(surroundings));
  }

  private static Finding directory(Surroundings surroundings) {
    Path data = surroundings.data();
    Path nearest = surroundings.nearest();
    if (!Files.isDirectory(nearest)) {
      return Finding.wrong("directory", nearest + " is no directory", "--data DIR names another");
    }
    Mount mount = FileSystemFindings.mount(surroundings, nearest);
    if (mount != null && mount.isReadOnly()) {
      return Finding.wrong(
          "directory",
          nearest + " can't be written: " + mount.at() + " is mounted read-only",
          mount.mendReadOnly() + ", or --data DIR names another");
    }
    if (!nearest.equals(data) && !Files.isExecutable(nearest)) {
      return Finding.wrong(
          "directory",
          nearest + " can't be entered by user " + user() + ", so neither can " + data,
          "--data DIR names a directory elsewhere, or chmod a+x " + nearest + " (as its owner)");
    }
    if (!Files.isWritable(nearest) || !Files.isExecutable(nearest)) {
      return Finding.wrong(
          "directory", nearest + " can't be written by user " + user(), mendOwner(data));
    }
    if (!Files.exists(data)) {
      return Finding.ok("directory", data + " is not there and can be made");
    }
    if (Surroundings.holdsStore(data)) {
      return notOpened(data)
          .map(file ->
              Finding.wrong(
                  "directory",
                  data + " holds a store, and user " + user() + " can't open " + file,
                  mendOwner(data)))
          .orElseGet(() -> Finding.ok("directory", data + " holds a store"));
    }
    return stranger(data)
        .map(name -> occupied(data, name, surroundings.chosen()))
        .orElseGet(() -> Finding.ok("directory", data + " is empty"));
  }

  /**
   * The command that makes this user the owner. A directory of the system must not change hands for
   * that. A store's may, with all its files, but from outside it can't be recognised as a store's.
   */
  static String mendOwner(Path data) {
    String install = "install -d -m 700 -o " + user() + " " + data + " (as the superuser)";
    if (!Files.exists(data)) {
      return install;
    }
    String files = "chown -R " + user() + " " + data + " (as the superuser)";
    String other = ", or --data DIR names another";
    if (Surroundings.holdsStore(data)) {
      return files + other;
    }
    return Files.isExecutable(data)
        ? "chown " + user() + " " + data + " (as the superuser)" + other
        : files + " where it is a store's" + other;
  }

  private static String user() {
    return OwnProcess.userName();
  }

  /**
   * The first of a store's files that this user may not read and write; a server maps all of them.
   */
  private static Optional<Path> notOpened(Path data) {
    return Surroundings.entries(data).stream()
        .filter(file -> isOfStore(file.getFileName().toString()))
        .filter(file -> !Files.isReadable(file) || !Files.isWritable(file))
        .findFirst();
  }

  private static boolean isOfStore(String name) {
    return name.equals(Protocol.SHM_DIRECTORY)
        || name.equals(StoreFiles.SUPERBLOCK)
        || name.equals(StoreFiles.ROOT)
        || name.equals(StoreFiles.STOPPED)
        || name.equals(Commits.FILE)
        || name.equals(LogFiles.REGIONS)
        || StoreFiles.isTable(name)
        || LogFiles.isRegion(name);
  }

  /**
   * A directory with other content. That is no failure of the current directory, which the user did
   * not choose.
   */
  private static Finding occupied(Path data, String name, boolean chosen) {
    String found = data + " is neither a store nor empty: it holds " + name;
    String mend = "--data DIR names the store's directory, or an empty one";
    return chosen
        ? Finding.wrong("directory", found, mend)
        : Finding.note("directory", found, mend);
  }

  private static Optional<String> stranger(Path data) {
    boolean begun = Files.exists(data.resolve("regions"));
    try {
      return Listing.names(data).stream()
          .filter(name -> !REPLACEABLE.contains(name))
          .filter(name -> !begun || !MADE_AFTER_REGIONS.contains(name))
          .min(String::compareTo);
    } catch (IOException e) {
      return Optional.of("what can't be listed");
    }
  }

  private static Room room(Surroundings surroundings) {
    try {
      return surroundings.rooms().of(surroundings.nearest());
    } catch (IOException e) {
      return null;
    }
  }

  private static Finding files(Surroundings surroundings) {
    Room room = room(surroundings);
    if (room == null || room.totalFiles() == 0) {
      return Finding.ok("inodes", "without a limit");
    }
    String found = room.usableFiles() + " of " + room.totalFiles() + " free";
    if (room.usableFiles() < FILES_OF_NEW_STORE) {
      return Finding.wrong(
          "inodes",
          found + ": a store has a file for each region and each client",
          "remove files there, or use another file system");
    }
    return Finding.ok("inodes", found);
  }

  private DirectoryFindings() {}
}
