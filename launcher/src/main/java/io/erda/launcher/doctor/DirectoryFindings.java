package io.erda.launcher.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The directory of a store: who may use it, what is in it, how much room there is. */
final class DirectoryFindings {
  /** What does not keep a server from creating a store there. */
  private static final Set<String> REPLACEABLE = Set.of("regions", "shm", "lost+found");

  /** What an interrupted creation may leave besides, once it has made the file of regions. */
  private static final Set<String> MADE_AFTER_REGIONS = Set.of("root", "table-1", "superblock.new");

  /** A store of the default size with its first objects: table, one region, and what is beside. */
  private static final long BYTES_OF_NEW_STORE = (9L << 20) + (64L << 20);

  /** A store without clients takes so much: its files, two regions more, queue files made ahead. */
  private static final long FILES_OF_NEW_STORE = 64;

  static List<Finding> of(Surroundings surroundings) {
    return List.of(directory(surroundings), space(surroundings), files(surroundings));
  }

  private static Finding directory(Surroundings surroundings) {
    Path data = surroundings.data();
    Path nearest = surroundings.nearest();
    if (!Files.isDirectory(nearest)) {
      return Finding.wrong("directory", nearest + " is no directory", "--data DIR names another");
    }
    if (!Files.isWritable(nearest) || !Files.isExecutable(nearest)) {
      return Finding.wrong(
          "directory",
          nearest + " can't be written by user " + System.getProperty("user.name"),
          mendOwner(data));
    }
    if (!Files.exists(data)) {
      return Finding.ok("directory", data + " is not there and can be made");
    }
    if (Files.exists(data.resolve("superblock"))) {
      return Finding.ok("directory", data + " holds a store");
    }
    return stranger(data)
        .map(name -> occupied(data, name, surroundings.chosen()))
        .orElseGet(() -> Finding.ok("directory", data + " is empty"));
  }

  /** A directory of the system's must not change hands because somebody wants one in it. */
  static String mendOwner(Path data) {
    String user = System.getProperty("user.name");
    return Files.exists(data)
        ? "chown " + user + " " + data + " (as the superuser), or --data DIR names another"
        : "install -d -m 700 -o " + user + " " + data + " (as the superuser)";
  }

  /** Nobody asked for the current directory: that it is none for a store is no failure. */
  private static Finding occupied(Path data, String name, boolean chosen) {
    String found = data + " is neither a store nor empty: it holds " + name;
    String mend = "--data DIR names the store's directory, or an empty one";
    return chosen
        ? Finding.wrong("directory", found, mend)
        : Finding.note("directory", found, mend);
  }

  private static Optional<String> stranger(Path data) {
    boolean begun = Files.exists(data.resolve("regions"));
    try (Stream<Path> files = Files.list(data)) {
      return files
          .map(file -> file.getFileName().toString())
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

  private static Finding space(Surroundings surroundings) {
    Room room = room(surroundings);
    if (room == null || room.totalBytes() == 0) {
      return Finding.ok("disk space", "the file system does not tell");
    }
    String found = Sizes.of(room.usableBytes()) + " of " + Sizes.of(room.totalBytes()) + " free";
    boolean stored = Files.exists(surroundings.data().resolve("superblock"));
    if (!stored && room.usableBytes() < BYTES_OF_NEW_STORE) {
      return Finding.wrong(
          "disk space",
          found + ": a new store takes " + Sizes.of(BYTES_OF_NEW_STORE) + " with its first value",
          "free some, or a smaller store: ./erda server --data DIR --capacity 64M");
    }
    return room.usableBytes() < room.totalBytes() / 10
        ? Finding.note(
            "disk space",
            found + ": when it is full puts are refused, reads and deletes go on",
            "free some, or delete keys; ./erda clean gives space back to the file system")
        : Finding.ok("disk space", found);
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
