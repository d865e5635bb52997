package io.erda.client;

import io.erda.protocol.ErdaException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The address of a store.
 *
 * <pre>
 *   erda+shm:/path/to/data             a server on this host, by its data directory
 *   erda+shm:/path/to/data?read-only   the files of that directory alone: see below
 *   erda://host:port                   by TCP
 *   erda+rdma://host:port              by RDMA hardware
 * </pre>
 *
 * <p><b>Read only.</b> A client of {@code ?read-only} gets and iterates, and needs only the right
 * to read the store's files: it contacts no server, makes no file and takes no lock, and works
 * whether a server runs or not. Puts, deletes, figures and cleaning throw {@link
 * ErdaException.ReadOnly}.
 *
 * <p>A path may have a question mark where a file of that name is there, or a slash follows it:
 * {@code erda+shm:/srv/what?/}. Otherwise what is behind the question mark is a parameter, and one
 * that is not known is refused.
 *
 * <p>Parameters of the device may follow host and port: {@code ?name=value&name=value}. They name
 * files, and never contain a secret themselves.
 */
public sealed interface ErdaUri {
  /** The default port of {@code ./erda server}. */
  int PORT_DEFAULT = 7411;

  /**
   * Shared memory: the data directory of the server.
   *
   * @param readOnly whether the client only reads the files, without a server
   */
  record Shm(Path data, boolean readOnly) implements ErdaUri {
    /** Shared memory with a server. */
    public Shm(Path data) {
      this(data, false);
    }

    /**
     * The URI. When the path has a question mark a slash follows it, so that what is behind the
     * question mark is not taken for a parameter.
     */
    @Override
    public String toString() {
      String path = data.toString();
      return SHM + path + (path.indexOf('?') < 0 ? "" : "/") + (readOnly ? READ_ONLY : "");
    }
  }

  /** TCP: the software RNIC of the server. */
  record Tcp(String host, int port, Map<String, String> parameters) implements ErdaUri {
    /** Without parameters. */
    public Tcp(String host, int port) {
      this(host, port, Map.of());
    }

    @Override
    public String toString() {
      return TCP + host + ":" + port + text(parameters);
    }
  }

  /** RDMA hardware. */
  record Rdma(String host, int port, Map<String, String> parameters) implements ErdaUri {
    /** Without parameters. */
    public Rdma(String host, int port) {
      this(host, port, Map.of());
    }

    @Override
    public String toString() {
      return RDMA + host + ":" + port + text(parameters);
    }
  }

  /**
   * The prefix of a URI of shared memory. It is not meant for applications; it is public because an
   * interface can have no package-private constants.
   */
  String SHM = "erda+shm:";

  /** The suffix of a URI whose client only reads the store's files. */
  String READ_ONLY = "?read-only";

  String TCP = "erda://";

  String RDMA = "erda+rdma://";

  /**
   * Reads a URI.
   *
   * @throws ErdaException.BadArgument when it has none of these forms; the message describes the
   *     expected form
   */
  static ErdaUri parse(String uri) {
    if (uri == null) {
      throw bad("null", "");
    }
    if (uri.startsWith(SHM)) {
      boolean readOnly = uri.endsWith(READ_ONLY);
      int end = uri.length() - (readOnly ? READ_ONLY.length() : 0);
      return new Shm(path(uri, uri.substring(SHM.length(), end)), readOnly);
    }
    if (uri.startsWith(TCP)) {
      String authority = authority(uri, TCP);
      return new Tcp(host(uri, authority), port(uri, authority), parameters(uri));
    }
    if (uri.startsWith(RDMA)) {
      String authority = authority(uri, RDMA);
      return new Rdma(host(uri, authority), port(uri, authority), parameters(uri));
    }
    throw bad(uri, "");
  }

  private static String authority(String uri, String prefix) {
    int query = uri.indexOf('?');
    return uri.substring(prefix.length(), query < 0 ? uri.length() : query);
  }

  private static Map<String, String> parameters(String uri) {
    int query = uri.indexOf('?');
    if (query < 0) {
      return Map.of();
    }
    Map<String, String> all = new LinkedHashMap<>();
    for (String each : uri.substring(query + 1).split("&", -1)) {
      int equals = each.indexOf('=');
      String name = equals < 0 ? each : each.substring(0, equals);
      if (name.isEmpty() || all.put(name, equals < 0 ? "" : each.substring(equals + 1)) != null) {
        throw bad(uri, " (parameters are ?name=value&name=value, each name once)");
      }
    }
    return Collections.unmodifiableMap(all);
  }

  private static String text(Map<String, String> parameters) {
    StringBuilder text = new StringBuilder();
    parameters.forEach((name, value) -> {
      text.append(text.isEmpty() ? '?' : '&').append(name);
      if (!value.isEmpty()) {
        text.append('=').append(value);
      }
    });
    return text.toString();
  }

  private static Path path(String uri, String rest) {
    String path = rest.startsWith("///") ? rest.substring(2) : rest;
    if (path.isEmpty() || path.startsWith("//")) {
      throw bad(uri, " (a path of this host, no host name)");
    }
    try {
      requireNoParameters(uri, path);
      return Path.of(path);
    } catch (InvalidPathException e) {
      throw bad(
          uri, " (the JVM can't name such a file, which is no UTF-8 or has a NUL in its name)");
    }
  }

  /**
   * Requires that a question mark in the path belongs to the name of a file: of one that is there,
   * or that a slash ends.
   */
  private static void requireNoParameters(String uri, String path) {
    int question = path.lastIndexOf('?');
    int slash = path.indexOf('/', question + 1);
    boolean ofName =
        question < 0
            || path.endsWith("/")
            || Files.exists(Path.of(slash < 0 ? path : path.substring(0, slash)));
    if (!ofName) {
      throw bad(
          uri,
          " (erda+shm: has one parameter, read-only, and not '"
              + path.substring(path.indexOf('?') + 1)
              + "'; no such file is there either: a slash behind a name that has a question mark"
              + " says that it is one)");
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
      // The exception below is thrown, and describes the expected form.
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
            + "; expected erda+shm:/path/to/data, with ?read-only behind it or not,"
            + " erda://host:port or erda+rdma://host:port");
  }
}
