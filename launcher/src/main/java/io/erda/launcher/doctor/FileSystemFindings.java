package io.erda.launcher.doctor;

import io.erda.pmem.CopyOnWrite;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The file system of a store, what it survives there, and the size of its pages. */
final class FileSystemFindings {
  private static final Set<String> TRIED = Set.of("ext4", "xfs");
  private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");
  private static final Set<String> OF_NETWORK =
      Set.of("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph", "lustre", "afs", "gfs2");
  private static final Set<String> COPY_ON_WRITE = Set.of("btrfs", "zfs", "bcachefs");

  static List<Finding> of(Surroundings surroundings) {
    List<Finding> all = new ArrayList<>();
    Mount mount = mount(surroundings, surroundings.nearest());
    if (mount == null) {
      all.add(
          Finding.note("file system", "it is not told", "--data names a directory of ext4 or xfs"));
    } else {
      all.add(type(mount, surroundings.data()));
      if (Surroundings.holdsStore(surroundings.data())) {
        all.add(copied(surroundings.data()));
      }
      all.add(dax(mount));
      all.add(pages(surroundings, mount));
    }
    all.add(sharedMemory(surroundings));
    return all;
  }

  /** The mount of a file, with all links resolved; null when it is unknown. */
  static Mount mount(Surroundings surroundings, Path file) {
    Path real = file;
    try {
      real = file.toRealPath();
    } catch (IOException e) {
      // Use the path as it was given.
    }
    return Mount.of(surroundings.proc(), real);
  }

  private static Finding type(Mount mount, Path data) {
    String type = mount.type();
    String is = type + " at " + mount.at();
    if (mount.isReadOnly()) {
      return Finding.wrong("file system", is + " is mounted read-only", mount.mendReadOnly());
    }
    if (TRIED.contains(type)) {
      return Finding.ok("file system", is);
    }
    if (IN_MEMORY.contains(type)) {
      return Finding.ok("file system", is + ": a store in it ends with this start of the machine");
    }
    if (type.equals("overlay")) {
      return Finding.note(
          "file system",
          is + " (overlayfs): a store in it goes when its container is removed",
          "a volume of ext4 or xfs (docker run -v VOLUME:" + data.toAbsolutePath() + ")");
    }
    if (OF_NETWORK.contains(type)) {
      return Finding.note(
          "file system",
          is
              + " is a network's: memory that two hosts map is not the same, so clients of other"
              + " hosts must not use the files; when the network fails, so does the store",
          "a directory of this host's disk, and --listen for clients of other hosts");
    }
    if (type.equals("fuse") || type.startsWith("fuse.") || type.equals("fuseblk")) {
      return Finding.note(
          "file system",
          is
              + " is a program's (FUSE): whether files can be mapped and made durable is up to it,"
              + " and a mirror of another directory (bindfs) does not show that a server has its"
              + " store open there",
          "a directory of ext4 or xfs");
    }
    if (COPY_ON_WRITE.contains(type)) {
      return Finding.note(
          "file system",
          is
              + " writes what is overwritten to another place, so the room that a store has"
              + " allocated may still be wanting when the disk is full"
              + (type.equals("btrfs")
                  ? "; files of new stores are made so that it does not, but for snapshots"
                  : ""),
          "a directory of ext4 or xfs, or keep the disk from running full");
    }
    return Finding.note(
        "file system", is + " was never tried with Erda", "a directory of ext4 or xfs");
  }

  /** Whether the blocks of the store's files are shared with copies. */
  private static Finding copied(Path data) {
    String copied = CopyOnWrite.look(data);
    return copied == null
        ? Finding.ok("copy on write", "no file of the store is copied when it is stored to")
        : Finding.note(
            "copy on write",
            copied + ", so when the disk is full, puts of keys that are there find no room either",
            "keep the disk from running full, and delete what shares the blocks; or stop the"
                + " server, and bring a backup of the store back into a new directory");
  }

  private static Finding dax(Mount mount) {
    String option = mount.option("dax");
    if (IN_MEMORY.contains(mount.type())) {
      return Finding.ok(
          "dax",
          "no: puts survive a kill of any process; in memory nothing survives a power failure");
    }
    if (!mount.isDax()) {
      return Finding.ok(
          "dax", "no: puts survive a kill of any process, and power failures with --promise power");
    }
    return option.equals("dax=inode")
        ? Finding.note(
            "dax",
            "for files that are marked for it alone",
            "xfs_io -c 'chattr +x' DIR before the store is created, or mount with dax=always")
        : Finding.ok("dax", option + ": puts survive power failures without waiting for a device");
  }

  private static Finding pages(Surroundings surroundings, Mount mount) {
    String setting =
        chosen(
            Surroundings.line(
                surroundings.sys().resolve("kernel/mm/transparent_hugepage/enabled")));
    String shared =
        chosen(
            Surroundings.line(
                surroundings.sys().resolve("kernel/mm/transparent_hugepage/shmem_enabled")));
    String found =
        "transparent ones are " + said(setting) + " for heaps and " + said(shared) + " for shmem";
    if (!mount.type().equals("tmpfs")) {
      return Finding.ok("huge pages", found + "; a store on " + mount.type() + " uses none");
    }
    String huge = mount.option("huge");
    if (shared.equals("deny")) {
      return Finding.note(
          "huge pages",
          found + ", so a store on tmpfs has none",
          "echo never > /sys/kernel/mm/transparent_hugepage/shmem_enabled, and mount -o"
              + " remount,huge=within_size "
              + mount.at());
    }
    return shared.equals("force") || huge != null && !huge.equals("huge=never")
        ? Finding.ok("huge pages", found + "; " + mount.at() + " has them")
        : Finding.note(
            "huge pages",
            found + "; " + mount.at() + " is mounted without huge=",
            "mount -o remount,huge=within_size " + mount.at());
  }

  private static String said(String setting) {
    return setting.isEmpty() ? "not there" : setting;
  }

  /** Returns the choice in effect, which the kernel's list shows in brackets. */
  private static String chosen(String choices) {
    int from = choices.indexOf('[');
    int to = choices.indexOf(']');
    return from >= 0 && to > from ? choices.substring(from + 1, to) : "";
  }

  /** Shared memory, which only a store that lies there needs. */
  private static Finding sharedMemory(Surroundings surroundings) {
    Path directory = surroundings.dev().resolve("shm");
    try {
      Room room = surroundings.rooms().of(directory);
      return Finding.ok(
          "/dev/shm",
          ByteText.of(room.usableBytes())
              + " of "
              + ByteText.of(room.totalBytes())
              + " free; only a store that lies there needs it");
    } catch (IOException e) {
      return Finding.note(
          "/dev/shm",
          "it is not there; only a store that lies there needs it",
          "mount -t tmpfs tmpfs /dev/shm");
    }
  }

  private FileSystemFindings() {}
}
