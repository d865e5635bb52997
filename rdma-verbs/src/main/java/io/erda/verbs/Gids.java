package io.erda.verbs;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** RDMA devices and their addresses from the kernel's files, without rdma-core. */
final class Gids {
  static final Path CLASS = Path.of("/sys/class/infiniband");

  private Gids() {}

  /** Returns the names of all devices, sorted; the libraries may not know all of them. */
  static List<String> devices() throws IOException {
    return names(CLASS).stream().sorted().toList();
  }

  /** The GIDs of a device; none for a device that the kernel does not know. */
  static Set<String> of(String device) throws IOException {
    Set<String> all = new HashSet<>();
    Path ports = CLASS.resolve(device).resolve("ports");
    for (String port : names(ports)) {
      Path gids = ports.resolve(port).resolve("gids");
      for (String index : names(gids)) {
        try {
          all.add(Files.readString(gids.resolve(index)).strip());
        } catch (IOException e) {
          // An empty entry of the table can't be read.
        }
      }
    }
    return all;
  }

  /** Returns the addresses of this network namespace by their GIDs, except link-local addresses. */
  static Map<String, InetAddress> own() throws IOException {
    Map<String, InetAddress> all = new LinkedHashMap<>();
    for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
      for (InetAddress address : each.inetAddresses().toList()) {
        if (!address.isLinkLocalAddress()) {
          all.put(gid(address.getAddress()), address);
        }
      }
    }
    return all;
  }

  /** As {@link io.erda.rdma.DeviceProvider#hosts}: the hosts of the first device that has one. */
  static List<String> hosts() throws IOException {
    Map<String, InetAddress> own = own();
    for (String device : devices()) {
      List<String> hosts = hosts(own, of(device));
      if (!hosts.isEmpty()) {
        return hosts;
      }
    }
    return List.of();
  }

  /** Returns the addresses of this namespace that a device has, those of IPv4 first. */
  static List<String> hosts(Map<String, InetAddress> own, Set<String> ofDevice) throws IOException {
    List<String> four = new ArrayList<>();
    List<String> six = new ArrayList<>();
    for (Map.Entry<String, InetAddress> each : own.entrySet()) {
      if (ofDevice.contains(each.getKey())) {
        // This removes the name of the link, which the JDK adds to IPv6 addresses.
        InetAddress plain = InetAddress.getByAddress(each.getValue().getAddress());
        if (plain instanceof Inet6Address) {
          six.add("[" + plain.getHostAddress() + "]");
        } else {
          four.add(plain.getHostAddress());
        }
      }
    }
    four.addAll(six);
    return four;
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

  /** The names in a directory; none where it does not exist. */
  private static List<String> names(Path directory) throws IOException {
    List<String> names = new ArrayList<>();
    if (Files.isDirectory(directory)) {
      try (DirectoryStream<Path> all = Files.newDirectoryStream(directory)) {
        all.forEach(path -> names.add(path.getFileName().toString()));
      }
    }
    return names;
  }
}
