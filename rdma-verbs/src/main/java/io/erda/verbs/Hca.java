package io.erda.verbs;

import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import io.erda.verbs.ffm.FfmCm;
import io.erda.verbs.ffm.FfmVerbs;
import io.erda.verbs.ffm.Offered;
import io.erda.verbs.ffm.VerbsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The RDMA device that a {@link VerbsDevice} uses, and what it allocated there.
 *
 * @param pd what regions and queue pairs belong to
 * @param channel where completion queues tell of completions
 * @param offered what it can do besides what every device can
 * @param soft whether it is the kernel's soft RDMA over an Ethernet device (rxe)
 */
record Hca(IbvContext context, IbvPd pd, IbvCompChannel channel, Offered offered, boolean soft) {
  private static final int ENODEV = 19;
  private static final Path CLASS = Path.of("/sys/class/infiniband");

  /**
   * Opens one.
   *
   * @param name the kernel's name; null for the first one that has an address of this network
   *     namespace
   * @throws IOException when there is none, in words for its user
   */
  static Hca open(FfmCm cm, FfmVerbs verbs, String name) throws IOException {
    List<String> names = new ArrayList<>();
    Set<String> own = name == null ? ownAddresses() : Set.of();
    for (IbvContext each : devices(cm)) {
      String called = verbs.name(each);
      names.add(called);
      if (name == null ? isHere(called, own) : called.equals(name)) {
        return open(verbs, each);
      }
    }
    if (names.isEmpty()) {
      throw new IOException(none(ofKernel()));
    }
    throw new IOException(
        (name == null
                ? "no RDMA device has an address of this network namespace"
                : "there is no RDMA device " + name)
            + "; there are "
            + String.join(", ", names));
  }

  private static Hca open(FfmVerbs verbs, IbvContext context) throws IOException {
    IbvPd pd = verbs.allocPd(context);
    IbvCompChannel channel = null;
    try {
      channel = verbs.createCompChannel(context);
      Offered offered = verbs.checkLayouts(context, pd, channel);
      return new Hca(context, pd, channel, offered, isSoft(verbs.name(context)));
    } catch (IOException | RuntimeException | Error e) {
      if (channel != null) {
        verbs.destroyCompChannel(channel);
      }
      verbs.deallocPd(pd);
      throw e;
    }
  }

  /**
   * Whether a device is the kernel's soft RDMA: its driver names the network device that it stands
   * on in a file; drivers of hardware are not known to have it.
   */
  static boolean isSoft(String name) {
    return Files.exists(CLASS.resolve(name).resolve("parent"));
  }

  /** What is said when the libraries find no device. */
  static String none(List<String> ofKernel) {
    return ofKernel.isEmpty()
        ? "this machine has no RDMA device (for soft RDMA over an Ethernet device: modprobe"
            + " rdma_rxe; rdma link add rxe0 type rxe netdev DEVICE)"
        : "the kernel has "
            + String.join(", ", ofKernel)
            + ", and rdma-core finds no RDMA device: is there a driver for it (Debian: apt-get"
            + " install ibverbs-providers), and are the kernel's modules loaded (modprobe"
            + " ib_uverbs; modprobe rdma_ucm)?";
  }

  static List<IbvContext> devices(FfmCm cm) throws IOException {
    try {
      return cm.devices();
    } catch (VerbsException e) {
      if (e.errno() == ENODEV) {
        throw new IOException(none(ofKernel()), e);
      }
      throw e;
    }
  }

  /** The RDMA devices that the kernel knows, whether the libraries do or not. */
  private static List<String> ofKernel() throws IOException {
    List<String> names = new ArrayList<>();
    if (Files.isDirectory(CLASS)) {
      try (DirectoryStream<Path> each = Files.newDirectoryStream(CLASS)) {
        each.forEach(path -> names.add(path.getFileName().toString()));
      }
      Collections.sort(names);
    }
    return names;
  }

  private static boolean isHere(String device, Set<String> own) throws IOException {
    Path ports = CLASS.resolve(device).resolve("ports");
    if (!Files.isDirectory(ports)) {
      return false;
    }
    try (DirectoryStream<Path> each = Files.newDirectoryStream(ports)) {
      for (Path port : each) {
        if (hasOne(port.resolve("gids"), own)) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean hasOne(Path gids, Set<String> own) throws IOException {
    try (DirectoryStream<Path> each = Files.newDirectoryStream(gids)) {
      for (Path gid : each) {
        String text;
        try {
          text = Files.readString(gid).strip();
        } catch (IOException e) {
          continue; // A place of the table that is empty can't be read.
        }
        if (own.contains(text)) {
          return true;
        }
      }
    }
    return false;
  }

  /** The addresses of this network namespace, as the kernel writes GIDs. */
  private static Set<String> ownAddresses() throws IOException {
    Set<String> all = new HashSet<>();
    for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
      for (InetAddress address : each.inetAddresses().toList()) {
        all.add(gid(address.getAddress()));
      }
    }
    return all;
  }

  static String gid(byte[] address) {
    byte[] gid = new byte[16];
    if (address.length == 4) {
      gid[10] = (byte) 0xff;
      gid[11] = (byte) 0xff;
    }
    System.arraycopy(address, 0, gid, 16 - address.length, address.length);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 16; i += 2) {
      text.append(i == 0 ? "" : ":");
      text.append("%02x%02x".formatted(gid[i], gid[i + 1]));
    }
    return text.toString();
  }

  void close(FfmVerbs verbs) throws IOException {
    verbs.destroyCompChannel(channel);
    verbs.deallocPd(pd);
  }
}
