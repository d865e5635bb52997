package io.erda.launcher.doctor;

import io.erda.launcher.posix.OwnProcess;
import io.erda.verbs.DeviceAbilities;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The requirements of RDMA. It is not needed over shared memory and TCP, so nothing is ever wrong.
 */
final class RdmaFindings {
  private static final String NOT_NEEDED = "; not needed over shared memory and TCP";
  private static final String PACKAGES =
      "apt-get install librdmacm1t64 libibverbs1 ibverbs-providers (librdmacm1 before Debian 13)";
  private static final String NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000";
  private static final String ACTIVE = "ACTIVE";

  private static final String INSTEAD =
      "nothing has to be done; soft RDMA of Linux 6.12 with rdma-core 56 (Debian 13) has it: rdma"
          + " link add rxe0 type rxe netdev eth0";

  /** Half a gibibyte: less is too little for a small store and its buffers. */
  private static final long LOCKED_BYTES_MIN = 512L << 20;

  static List<Finding> of(Surroundings surroundings) {
    Path devices = surroundings.sys().resolve("class/infiniband");
    List<Path> all = Surroundings.entries(devices);
    List<Finding> findings = new ArrayList<>();
    findings.add(libraries(surroundings));
    if (all.isEmpty()) {
      findings.add(
          Finding.note(
              "rdma devices",
              "there are none" + NOT_NEEDED,
              "soft RDMA over Ethernet: modprobe rdma_rxe; modprobe rdma_ucm; rdma link add rxe0"
                  + " type rxe netdev eth0"));
      return findings;
    }
    findings.add(Finding.ok("rdma devices", names(all)));
    all.forEach(device -> ports(device, findings));
    findings.add(deviceFiles(surroundings));
    findings.add(lockedMemory(surroundings));
    abilities(surroundings, all.getFirst(), findings);
    return findings;
  }

  private static Finding libraries(Surroundings surroundings) {
    List<String> missing = new ArrayList<>();
    for (String library : List.of("libibverbs.so.1", "librdmacm.so.1")) {
      if (!surroundings.libraries().test(library)) {
        missing.add(library);
      }
    }
    return missing.isEmpty()
        ? Finding.ok("rdma libraries", "libibverbs.so.1 and librdmacm.so.1 can be loaded")
        : Finding.note(
            "rdma libraries",
            String.join(" and ", missing) + " can't be loaded" + NOT_NEEDED,
            PACKAGES);
  }

  private static void ports(Path device, List<Finding> findings) {
    for (Path port : Surroundings.entries(device.resolve("ports"))) {
      String name = device.getFileName() + "/" + port.getFileName();
      String state = Surroundings.line(port.resolve("state"));
      long gids =
          Surroundings.entries(port.resolve("gids")).stream()
              .map(Surroundings::line)
              .filter(gid -> !gid.isEmpty() && !gid.equals(NO_GID))
              .count();
      String layer = Surroundings.line(port.resolve("link_layer"));
      String found = "%s: %s, %s, %d GIDs".formatted(name, state, layer, gids);
      if (!state.endsWith(ACTIVE)) {
        findings.add(
            Finding.note(
                "rdma port",
                found + "; nothing goes through it",
                layer.equals("Ethernet")
                    ? "ip link set DEVICE up, for the Ethernet device below it (rdma link)"
                    : "look to the cable and to the subnet manager (ibstat)"));
      } else if (gids == 0) {
        findings.add(
            Finding.note(
                "rdma port",
                found + "; without one nobody can name it",
                "ip address add ADDRESS dev DEVICE, for the network device of the port"));
      } else {
        findings.add(Finding.ok("rdma port", found));
      }
    }
  }

  /** The abilities that the devices report, if they can be asked. */
  private static void abilities(Surroundings surroundings, Path first, List<Finding> findings) {
    try {
      for (DeviceAbilities each : surroundings.abilities().ask()) {
        findings.add(paging(surroundings, each));
        findings.add(flush(each));
        findings.add(
            each.writesWords()
                ? Finding.ok("atomic write", each.device() + " has it")
                : Finding.note(
                    "atomic write",
                    each.device() + " has none: a WRITE of 8 aligned bytes takes its place",
                    INSTEAD));
      }
    } catch (IOException e) {
      findings.add(
          Finding.note(
              "rdma abilities",
              "on-demand paging, flush and atomic write: the devices can't be asked: "
                  + e.getMessage(),
              "what is wrong above; ibv_devinfo -v -d "
                  + first.getFileName()
                  + " (of ibverbs-utils) asks, too"));
    }
  }

  /** On-demand paging, which decides where a store may lie. */
  private static Finding paging(Surroundings surroundings, DeviceAbilities device) {
    String name = "on-demand paging";
    if (device.pagesOnDemand() && !device.soft()) {
      return Finding.ok(name, device.device() + " has it: a store may lie on a disk, or on DAX");
    }
    String found =
        device.device()
            + (device.pagesOnDemand()
                ? " says that it has it, and soft RDMA does it wrong, so it is not used"
                : " has none");
    Mount mount = FileSystemFindings.mount(surroundings, surroundings.nearest());
    if (mount != null && mount.type().equals("tmpfs")) {
      return Finding.ok(name, found + "; a store on tmpfs needs none");
    }
    return Finding.note(
        name,
        found
            + ": a store on "
            + (mount == null ? "a disk" : mount.type())
            + " is not served over"
            + " RDMA",
        "./erda server --data /dev/shm/erda --rdma HOST:PORT (tmpfs needs none)");
  }

  private static Finding flush(DeviceAbilities device) {
    if (device.persists()) {
      return Finding.ok("flush", device.device() + " has it, global and persistent");
    }
    return Finding.note(
        "flush",
        device.device()
            + (device.flushes() ? " has it, global and not persistent" : " has none")
            + ": puts need none, because the server writes back",
        INSTEAD);
  }

  private static Finding deviceFiles(Surroundings surroundings) {
    Path directory = surroundings.dev().resolve("infiniband");
    List<Path> files =
        Surroundings.entries(directory).stream()
            .filter(file -> file.getFileName().toString().startsWith("uverbs"))
            .toList();
    Path manager = directory.resolve("rdma_cm");
    if (files.isEmpty() || !Files.exists(manager)) {
      return Finding.note(
          "rdma files",
          (files.isEmpty() ? directory.resolve("uverbs*") : manager) + " is not there",
          "modprobe ib_uverbs; modprobe rdma_ucm (a container: --device /dev/infiniband)");
    }
    for (Path file : files) {
      if (!canBeOpened(file)) {
        return notOpened(file);
      }
    }
    return canBeOpened(manager)
        ? Finding.ok("rdma files", names(files) + " and rdma_cm can be opened")
        : notOpened(manager);
  }

  private static boolean canBeOpened(Path file) {
    return Files.isReadable(file) && Files.isWritable(file);
  }

  private static Finding notOpened(Path file) {
    return Finding.note(
        "rdma files",
        file + " can't be opened by user " + OwnProcess.userName(),
        "chmod 666 " + file + " (as the superuser), or the group that it belongs to");
  }

  private static Finding lockedMemory(Surroundings surroundings) {
    long limit = surroundings.limits().soft(KernelLimits.Of.LOCKED_BYTES);
    return limit >= 0 && limit < LOCKED_BYTES_MIN
        ? Finding.note(
            "locked memory",
            ByteText.of(limit) + ": over RDMA the store and the buffers are locked in memory",
            "ulimit -l unlimited; a service: LimitMEMLOCK=infinity")
        : Finding.ok(
            "locked memory",
            limit == Long.MAX_VALUE ? "unlimited" : "at most " + ByteText.of(limit));
  }

  private static String names(List<Path> files) {
    return String.join(", ", files.stream().map(file -> file.getFileName().toString()).toList());
  }

  private RdmaFindings() {}
}
