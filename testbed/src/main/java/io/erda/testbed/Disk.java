package io.erda.testbed;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;

/** A disk with the file system of a session's store: a file of the host. */
final class Disk {
  /** The kinds of file systems. */
  enum Kind {
    /** On a virtio disk. */
    EXT4(128L << 20),
    /** On a virtio disk; smaller ones are refused by mkfs.xfs. */
    XFS(320L << 20),
    /** ext4 with DAX on an NVDIMM. */
    DAX(160L << 20);

    private final long bytes;

    Kind(long bytes) {
      this.bytes = bytes;
    }
  }

  /** The offset of the file system: ndctl's namespace occupies the bytes before it. */
  private static final long DAX_OFFSET = 2L << 20;

  private final Kind kind;
  private final Path file;

  Disk(Kind kind, Path file) {
    this.kind = kind;
    this.file = file;
  }

  /** Makes a new empty disk; with DAX the guest makes the file system. */
  static Disk create(Kind kind, Path file, Path log) throws IOException {
    try (RandomAccessFile disk = new RandomAccessFile(file.toFile(), "rw")) {
      disk.setLength(0);
      disk.setLength(kind.bytes);
    }
    switch (kind) {
      case EXT4 -> HostShell.must(log, "mke2fs", "-q", "-F", "-t", "ext4", file.toString());
      // The kernels of the guest and of the host, which mounts copies, may have different versions.
      case XFS -> HostShell.must(log, "mkfs.xfs", "-q", "-f", file.toString());
      case DAX -> {}
    }
    return new Disk(kind, file);
  }

  Kind kind() {
    return kind;
  }

  Path file() {
    return file;
  }

  /** Copies the current disk; holes stay holes. */
  Disk copy(Path to, Path log) {
    HostShell.must(log, "cp", "--sparse=always", "--reflink=auto", file.toString(), to.toString());
    return new Disk(kind, to);
  }

  /** The flags for QEMU, in which this disk follows the three read-only disks. */
  List<String> qemuFlags() {
    return switch (kind) {
      // The host survives, so its page cache is as good as a disk.
      case EXT4, XFS ->
          List.of("-drive", "file=" + file + ",if=virtio,format=raw,cache=unsafe,discard=unmap");
      case DAX ->
          List.of(
              "-object",
              "memory-backend-file,id=pmem0,share=on,mem-path=" + file + ",size=" + kind.bytes,
              "-device",
              "nvdimm,id=nvdimm0,memdev=pmem0");
    };
  }

  /**
   * Shell lines of the guest that mount it at /store and postpone all writes that are not
   * requested.
   */
  List<String> mountInGuest() {
    String lazy =
        "echo 0 > /proc/sys/vm/dirty_writeback_centisecs;"
            + " echo 90 > /proc/sys/vm/dirty_background_ratio; echo 95 > /proc/sys/vm/dirty_ratio";
    return switch (kind) {
      case EXT4 -> List.of(lazy, "mount -t ext4 -o commit=300 /dev/vdd /store");
      case XFS ->
          List.of(
              lazy,
              "modprobe xfs",
              "echo 720000 > /proc/sys/fs/xfs/xfssyncd_centisecs",
              "mount -t xfs /dev/vdd /store");
      case DAX ->
          List.of(
              lazy,
              "modprobe nfit; modprobe nd_pmem",
              "i=0; while [ $i -lt 100 ] && ! ls /dev/pmem* > /dev/null 2>&1; do busybox sleep 0.1;"
                  + " i=$((i + 1)); done",
              "mount -t ext4 -o dax,commit=300 /dev/pmem0 /store");
    };
  }

  /** Shell lines of the guest that make the file system on a new NVDIMM. */
  static List<String> formatInGuest() {
    return List.of(
        "modprobe nfit; modprobe nd_pmem",
        "i=0; while [ $i -lt 100 ] && ! ls /dev/pmem* > /dev/null 2>&1; do busybox sleep 0.1;"
            + " i=$((i + 1)); done",
        "ndctl create-namespace -f -e namespace0.0 -m fsdax -M mem",
        "mke2fs -q -F -t ext4 -b 4096 /dev/pmem0 && sync && echo '@ formatted' > /dev/ttyS1");
  }

  /** Mounts a copy of a cut disk on the host, which replays the file system's journal. */
  void mountOnHost(Path directory, Path log) {
    String options =
        switch (kind) {
          case EXT4 -> "loop";
          case XFS -> "loop,nouuid";
          case DAX -> "loop,offset=" + DAX_OFFSET;
        };
    String type = kind == Kind.XFS ? "xfs" : "ext4";
    HostShell.must(log, "mount", "-t", type, "-o", options, file.toString(), directory.toString());
  }
}
