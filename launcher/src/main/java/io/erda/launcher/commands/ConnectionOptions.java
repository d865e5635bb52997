package io.erda.launcher.commands;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.console.UserError;
import io.erda.server.StoreVerifier;
import java.nio.file.Path;
import java.util.List;
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

  /**
   * Connects to read all keys.
   *
   * @throws UserError when only the files are read, and they were damaged since the store was
   *     stopped: keys would be missing without a sign
   */
  ErdaClient connectToReadAll() {
    return connectToReadAll(ClientOptions.DEFAULT);
  }

  /** The same, with options. */
  ErdaClient connectToReadAll(ClientOptions options) {
    if (ErdaUri.parse(uri) instanceof ErdaUri.Shm(Path data, boolean readOnly) && readOnly) {
      List<String> changes = StoreVerifier.changesSinceStop(data);
      if (!changes.isEmpty()) {
        throw new UserError(
            "the store was stopped cleanly and is not what it was then: "
                + changes.getFirst()
                + (changes.size() > 1 ? ", and more" : "")
                + ". Keys may be missing: see what 'erda verify' finds, or bring a backup back");
      }
    }
    return connect(options);
  }

  String uri() {
    return uri;
  }
}
