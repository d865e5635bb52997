package io.erda.launcher.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The persistent memory of this machine, wherever the store is: which devices the kernel has, and
 * whether they are mounted with DAX. It is optional, so nothing is ever wrong.
 */
final class PersistentMemoryFindings {
  private static final String NAME = "dax mounts";

  static List<Finding> of(Surroundings surroundings) {
    List<Finding> findings = new ArrayList<>();
    for (Path block : Surroundings.entries(surroundings.sys().resolve("block"))) {
      if (block.getFileName().toString().startsWith("pmem")) {
        findings.add(block(surroundings, block));
      }
    }
    for (Path dax : Surroundings.entries(surroundings.sys().resolve("bus/dax/devices"))) {
      findings.add(
          Finding.ok(
              NAME,
              dax.getFileName()
                  + " is a devdax device: no file system, so no store of ./erda server"));
    }
    if (findings.isEmpty()) {
      findings.add(none(surroundings));
    }
    return findings;
  }

  private static Finding none(Surroundings surroundings) {
    for (Path device : Surroundings.entries(surroundings.sys().resolve("bus/nd/devices"))) {
      if (device.getFileName().toString().startsWith("region")) {
        return Finding.note(
            NAME,
            "there is persistent memory (" + device.getFileName() + ") without a namespace",
            "ndctl create-namespace -m fsdax; mke2fs -t ext4 -b 4096 /dev/pmem0; mount -o dax"
                + " /dev/pmem0 DIR");
      }
    }
    return Finding.ok(NAME, "no persistent memory, and none is needed");
  }

  private static Finding block(Surroundings surroundings, Path block) {
    String name = block.getFileName().toString();
    Path device = Path.of("/dev").resolve(name);
    if (Surroundings.line(block.resolve("queue/dax")).equals("0")) {
      return Finding.note(
          NAME,
          name + " offers no DAX: its namespace is none of mode fsdax",
          "ndctl create-namespace -f -e NAMESPACE -m fsdax (ndctl list names it; what it holds is"
              + " lost)");
    }
    List<Mount> mounts = Mount.ofDevice(surroundings.proc(), device);
    for (Mount mount : mounts) {
      if (mount.isDax()) {
        return Finding.ok(
            NAME, name + " at " + mount.at() + ", " + mount.type() + ", " + mount.option("dax"));
      }
    }
    return mounts.isEmpty()
        ? Finding.note(
            NAME,
            name + " is not mounted",
            "mount -o dax "
                + device
                + " DIR (an empty one first: mke2fs -t ext4 -b 4096 "
                + device
                + ")")
        : Finding.note(
            NAME,
            name + " is mounted at " + mounts.getFirst().at() + " without DAX",
            "umount "
                + mounts.getFirst().at()
                + "; mount -o dax "
                + device
                + " "
                + mounts.getFirst().at());
  }

  private PersistentMemoryFindings() {}
}
