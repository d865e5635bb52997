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

/** RDMA devices and their addresses as the kernel tells them in files, without rdma-core. */
final class Gids {
  static final Path CLASS = Path.of("/sys/class/infiniband");

  private Gids() {}

  /** The names of all devices, in order, whether the libraries know them or not. */
  static List<String> devices() throws IOException {
    return names(CLASS).stream().sorted().toList();
  }

  /** The GIDs of a device; none of one that the kernel does not know. */
  static Set<String> of(String device) throws IOException {
    Set<String> all = new HashSet<>();
    Path ports = CLASS.resolve(device).resolve("ports");
    for (String port : names(ports)) {
      Path gids = ports.resolve(port).resolve("gids");
      for (String index : names(gids)) {
        try {
          all.add(Files.readString(gids.resolve(index)).strip());
        } catch (IOException e) {
          // A place of the table that is empty can't be read.
        }
      }
    }
    return all;
  }

  /** The addresses of this network namespace, by their GIDs. */
  static Map<String, InetAddress> own() throws IOException {
    Map<String, InetAddress> all = new LinkedHashMap<>();
    for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
      for (InetAddress address : each.inetAddresses().toList()) {
        all.put(gid(address.getAddress()), address);
      }
    }
    return all;
  }

  /**
   * Addresses of this network namespace that an RDMA device has, those of IPv4 first; without those
   * that only mean something together with a link.
   */
  static List<String> hosts() throws IOException {
    Map<String, InetAddress> own = own();
    List<String> hosts = new ArrayList<>();
    for (String device : devices()) {
      for (String gid : of(device)) {
        InetAddress address = own.get(gid);
        if (address == null || address.isLinkLocalAddress()) {
          continue;
        }
        if (address instanceof Inet6Address) {
          hosts.addLast("[" + address.getHostAddress() + "]");
        } else {
          hosts.addFirst(address.getHostAddress());
        }
      }
    }
    return hosts;
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

  /** What is in a directory; nothing where there is none. */
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
