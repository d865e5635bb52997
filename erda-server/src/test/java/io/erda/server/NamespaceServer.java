package io.erda.server;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A server for {@link NetworkNamespaceTest}: DATA HOST:PORT SECRET-FILE; ends with its input. */
final class NamespaceServer {
  private NamespaceServer() {}

  public static void main(String[] arguments) throws Exception {
    Listening listening = new Listening("erda", arguments[1], Map.of("secret-file", arguments[2]));
    ServerOptions options =
        ServerOptions.DEFAULTS
            .withCapacityBytes(64 << 20)
            .withBuckets(1 << 12)
            .withListening(List.of(listening));
    try (ErdaServer server = ErdaServer.start(Path.of(arguments[0]), options)) {
      System.out.println("serving at " + server.uris().get(1));
      while (System.in.read() >= 0) {}
    }
  }
}
