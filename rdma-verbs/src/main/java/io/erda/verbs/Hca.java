package io.erda.verbs;

import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import io.erda.verbs.ffm.FfmCm;
import io.erda.verbs.ffm.FfmVerbs;
import io.erda.verbs.ffm.Offered;
import io.erda.verbs.ffm.VerbsException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The RDMA device that a {@link VerbsDevice} uses, and its allocations there.
 *
 * @param pd the protection domain of regions and queue pairs
 * @param channel the channel for events of completions
 * @param offered the device's optional abilities
 * @param soft whether it is the kernel's soft RDMA over an Ethernet device (rxe)
 */
record Hca(IbvContext context, IbvPd pd, IbvCompChannel channel, Offered offered, boolean soft) {
  private static final int ENODEV = 19;

  /**
   * Opens a device.
   *
   * @param name the kernel's name of the device; null for the first device, by name, that has an
   *     address of this network namespace
   * @throws IOException when there is no such device; the message is for a user
   */
  static Hca open(FfmCm cm, FfmVerbs verbs, String name) throws IOException {
    Map<String, IbvContext> devices = new TreeMap<>();
    for (IbvContext each : devices(cm)) {
      devices.put(verbs.name(each), each);
    }
    Set<String> own = name == null ? Gids.own().keySet() : Set.of();
    for (Map.Entry<String, IbvContext> each : devices.entrySet()) {
      String called = each.getKey();
      if (name == null ? !Collections.disjoint(Gids.of(called), own) : called.equals(name)) {
        return open(verbs, each.getValue());
      }
    }
    if (devices.isEmpty()) {
      throw new IOException(none(Gids.devices()));
    }
    throw new IOException(
        (name == null
                ? "no RDMA device has an address of this network namespace"
                : "there is no RDMA device " + name)
            + "; there are "
            + String.join(", ", devices.keySet()));
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
   * Whether a device is the kernel's soft RDMA. Its driver has a file with the name of the
   * underlying network device; no driver of hardware is known to have this file.
   */
  static boolean isSoft(String name) {
    return Files.exists(Gids.CLASS.resolve(name).resolve("parent"));
  }

  /** The message when the libraries find no device. */
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
        throw new IOException(none(Gids.devices()), e);
      }
      throw e;
    }
  }

  void close(FfmVerbs verbs) throws IOException {
    verbs.destroyCompChannel(channel);
    verbs.deallocPd(pd);
  }
}
