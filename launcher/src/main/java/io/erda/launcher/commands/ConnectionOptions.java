package io.erda.launcher.commands;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import picocli.CommandLine.Option;

/** The option that names a store, for the commands that are its clients. */
final class ConnectionOptions {
  @Option(
      names = "--uri",
      required = true,
      paramLabel = "URI",
      defaultValue = "${env:ERDA_URI}",
      description =
          "The store, for example erda+shm:/var/lib/erda; with ?read-only behind it, its files"
              + " alone are read. What ERDA_URI says by default.")
  private String uri;

  /** A connection to a given store, instead of the command line's. */
  static ConnectionOptions of(String uri) {
    ConnectionOptions connection = new ConnectionOptions();
    connection.uri = uri;
    return connection;
  }

  ErdaClient connect() {
    return ErdaClient.connect(uri);
  }

  ErdaClient connect(ClientOptions options) {
    return ErdaClient.connect(ErdaUri.parse(uri), options);
  }

  String uri() {
    return uri;
  }
}
