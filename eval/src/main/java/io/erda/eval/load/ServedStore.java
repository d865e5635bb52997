package io.erda.eval.load;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment.Context;
import io.erda.eval.process.ServerChild;
import io.erda.protocol.PutMode;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * A store in its own directory, and the process that serves it. Closing ends the server; the
 * directory is removed with the experiment's processes.
 */
public final class ServedStore implements AutoCloseable {
  private final Context context;
  private ServerChild server;

  private ServedStore(Context context, ServerChild server) {
    this.context = context;
    this.server = server;
  }

  /**
   * Makes a store, and returns when it is served.
   *
   * @param experiment names its directory
   * @param creation options of {@code ./erda server} for a new store
   */
  public static ServedStore create(Context context, String experiment, List<String> creation) {
    Path data = context.newDirectory(experiment);
    return new ServedStore(
        context, ServerChild.start(context.children(), context.jvm(), data, creation));
  }

  /** The options of a new store with this put mode. */
  public static List<String> putting(PutMode mode) {
    return List.of("--put", mode.name().toLowerCase(Locale.ROOT));
  }

  /** The current server, or the last one. */
  public ServerChild server() {
    return server;
  }

  public Path data() {
    return server.data();
  }

  public ErdaClient connect() {
    return ErdaClient.connect(server.uri());
  }

  /** Puts all objects, with a separate client. */
  public void load(Dataset dataset) {
    try (ErdaClient client = connect()) {
      dataset.load(client, context.progress());
    }
  }

  /** Starts a process that will load it. */
  public LoadChild newLoad() {
    return LoadChild.start(context.children(), context.jvm(), server.uri());
  }

  /** Starts the next server after the last has ended; it may not serve yet when this returns. */
  public void spawnAgain(String... options) {
    server = ServerChild.spawn(context.children(), context.jvm(), data(), List.of(options));
  }

  /** Starts the next server after the last has ended, and returns when it serves. */
  public void startAgain(String... options) {
    spawnAgain(options);
    server.awaitServing();
  }

  /** Ends the server cleanly. */
  @Override
  public void close() {
    server.stop();
  }
}
