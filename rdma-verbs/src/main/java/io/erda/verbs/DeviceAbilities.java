package io.erda.verbs;

import com.ibm.disni.verbs.IbvContext;
import io.erda.verbs.ffm.FfmProvider;
import io.erda.verbs.ffm.FfmVerbs;
import io.erda.verbs.ffm.Offered;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The optional abilities that an RDMA device reports.
 *
 * @param device the kernel's name of the device
 * @param soft whether it is the kernel's soft RDMA over an Ethernet device
 * @param pagesOnDemand whether READs and WRITEs of peers reach memory that is not pinned
 * @param flushes FLUSH that makes stores visible to all
 * @param persists FLUSH that makes stores survive a power failure
 * @param writesWords ATOMIC_WRITE
 */
public record DeviceAbilities(
    String device,
    boolean soft,
    boolean pagesOnDemand,
    boolean flushes,
    boolean persists,
    boolean writesWords) {
  /**
   * Queries all devices of this machine, and changes nothing.
   *
   * @throws IOException when they can't be queried, or there is no device; the message is for a
   *     user
   */
  public static List<DeviceAbilities> ofThisMachine() throws IOException {
    FfmProvider provider = FfmProvider.install();
    FfmVerbs verbs = provider.openVerbs();
    List<DeviceAbilities> all = new ArrayList<>();
    for (IbvContext each : Hca.devices(provider.openCm())) {
      String name = verbs.name(each);
      Offered offered = verbs.saidToBeOffered(each);
      all.add(
          new DeviceAbilities(
              name,
              Hca.isSoft(name),
              verbs.pagesOnDemand(each),
              offered.flushes(),
              offered.persists(),
              offered.writesWords()));
    }
    return List.copyOf(all);
  }
}
