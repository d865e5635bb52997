package io.erda.client;

import io.erda.protocol.ErdaException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Where a store is.
 *
 * <pre>
 *   erda+shm:/path/to/data      a server on this host, by its data directory
 *   erda://host:port            by TCP
 *   erda+rdma://host:port       by RDMA hardware
 * </pre>
 */
public sealed interface ErdaUri {
  /** The port of {@code ./erda server} where none is named. */
  int PORT_DEFAULT = 7411;

  /** Shared memory: the data directory of the server. */
  record Shm(Path data) implements ErdaUri {
    @Override
    public String toString() {
      return SHM + data;
    }
  }

  /** TCP: the software RNIC of the server. */
  record Tcp(String host, int port) implements ErdaUri {
    @Override
    public String toString() {
      return TCP + host + ":" + port;
    }
  }

  /** RDMA hardware. */
  record Rdma(String host, int port) implements ErdaUri {
    @Override
    public String toString() {
      return RDMA + host + ":" + port;
    }
  }

  /** Prefixes; package detail in spirit, an interface can't say so. */
  String SHM = "erda+shm:";

  String TCP = "erda://";

  String RDMA = "erda+rdma://";

  /**
   * Reads a URI.
   *
   * @throws ErdaException.BadArgument when it is none of the three forms; the message says what is
   *     expected
   */
  static ErdaUri parse(String uri) {
    if (uri == null) {
      throw bad("null", "");
    }
    if (uri.startsWith(SHM)) {
      return new Shm(path(uri, uri.substring(SHM.length())));
    }
    if (uri.startsWith(TCP)) {
      String authority = uri.substring(TCP.length());
      return new Tcp(host(uri, authority), port(uri, authority));
    }
    if (uri.startsWith(RDMA)) {
      String authority = uri.substring(RDMA.length());
      return new Rdma(host(uri, authority), port(uri, authority));
    }
    throw bad(uri, "");
  }

  private static Path path(String uri, String rest) {
    String path = rest.startsWith("///") ? rest.substring(2) : rest;
    if (path.isEmpty() || path.startsWith("//")) {
      throw bad(uri, " (a path of this host, no host name)");
    }
    try {
      return Path.of(path);
    } catch (InvalidPathException e) {
      throw bad(uri, " (" + e.getReason() + ")");
    }
  }

  private static String host(String uri, String authority) {
    int colon = portColon(authority);
    String host = colon < 0 ? authority : authority.substring(0, colon);
    boolean bracketed = host.startsWith("[") && host.endsWith("]") && host.length() > 2;
    if (host.isEmpty() || host.indexOf('/') >= 0 || (host.indexOf(':') >= 0 && !bracketed)) {
      throw bad(uri, " (a host name or address; IPv6 in brackets; nothing behind the port)");
    }
    return host;
  }

  private static int port(String uri, String authority) {
    int colon = portColon(authority);
    if (colon < 0) {
      return PORT_DEFAULT;
    }
    String digits = authority.substring(colon + 1);
    try {
      int port = Integer.parseInt(digits);
      if (port >= 1 && port <= 65535) {
        return port;
      }
    } catch (NumberFormatException e) {
      // Told below, with what is expected.
    }
    throw bad(uri, " (a port is 1 to 65535: '" + digits + "')");
  }

  private static int portColon(String authority) {
    int colon = authority.lastIndexOf(':');
    return colon > authority.lastIndexOf(']') ? colon : -1;
  }

  private static ErdaException.BadArgument bad(String uri, String detail) {
    return new ErdaException.BadArgument(
        "not a URI of a store: '"
            + uri
            + "'"
            + detail
            + "; expected erda+shm:/path/to/data, erda://host:port or erda+rdma://host:port");
  }
}
