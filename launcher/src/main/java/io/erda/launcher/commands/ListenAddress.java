package io.erda.launcher.commands;

import io.erda.console.UserError;

/** The address of an option that says where a server listens. */
final class ListenAddress {
  private static final String LOOPBACK = "127.0.0.1";
  private static final int PORT_MAX = 65_535;

  private ListenAddress() {}

  /**
   * Checks an address without looking its host up, and completes it: a port without a host is on
   * loopback.
   *
   * @param option the option's name, for the error
   * @param text HOST:PORT, :PORT or PORT; an IPv6 address has brackets around it
   * @return HOST:PORT
   * @throws UserError when the text has not this form; exit code 2
   */
  static String of(String option, String text) {
    int colon = text.lastIndexOf(':');
    String host = text.substring(0, Math.max(0, colon));
    String port = text.substring(colon + 1);
    // A host alone is the likelier mistake, so this comes before what is said of a port.
    if (port.isEmpty() || !port.chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw new UserError("%s: not HOST:PORT or PORT: %s".formatted(option, text), 2);
    }
    if (host.contains(":") && !(host.startsWith("[") && host.endsWith("]"))) {
      throw new UserError(
          "%s: an IPv6 address has brackets around it, [%s]:%s, and this has none: %s"
              .formatted(option, host, port, text),
          2);
    }
    // Six digits are more than any port has, and fewer than an int can hold.
    if (port.length() > 5 || Integer.parseInt(port) > PORT_MAX) {
      throw new UserError("%s: no port: %s".formatted(option, port), 2);
    }
    return (host.isEmpty() ? LOOPBACK : host) + ":" + port;
  }
}
