package io.erda.eval.baselines;

import io.erda.eval.process.ProcessException;
import io.erda.eval.profile.ProfileSteps;
import io.erda.eval.profile.Sampling;
import io.erda.eval.profile.Sampling.Span;
import java.util.ArrayList;
import java.util.List;

/**
 * The updates of one scheme, with samples of the steps of its client and its server. Borrows both.
 * One thread.
 */
final class SampledUpdates {
  private final ServedScheme served;
  private final UpdatingChild updating;
  private final List<Span> spans = new ArrayList<>();
  private final ProfileSteps.Shares client;
  private final ProfileSteps.Shares server;
  private long ns;
  private long updates;

  SampledUpdates(ServedScheme served, UpdatingChild updating) {
    this.served = served;
    this.updating = updating;
    client = UpdateSteps.ofClient(served.scheme).new Shares();
    server = UpdateSteps.ofServer(served.scheme).new Shares();
  }

  Scheme scheme() {
    return served.scheme;
  }

  /**
   * Updates this many objects.
   *
   * @param counts whether they count, or are a warm-up
   */
  void update(int operations, boolean counts) {
    UpdatingChild.Done done = updating.update(operations);
    if (counts) {
      spans.add(done.span());
      ns += done.ns();
      updates += operations;
    }
  }

  /**
   * Reads the recordings of both processes, which have ended.
   *
   * @throws ProcessException when one of them is empty
   */
  void read(Sampling sampling) {
    sampling.samples(updating.pid(), UpdatingChild.THREAD, spans, client::add);
    sampling.samples(served.pid(), served.serverThread(), spans, server::add);
    if (client.samples() == 0 || server.samples() == 0) {
      throw new ProcessException(
          scheme().title
              + ": "
              + client.samples()
              + " samples of the client's thread and "
              + server.samples()
              + " of the server's");
    }
  }

  /** The time of the updates that count. */
  long ns() {
    return ns;
  }

  double nsPerUpdate() {
    return (double) ns / updates;
  }

  ProfileSteps.Shares client() {
    return client;
  }

  ProfileSteps.Shares server() {
    return server;
  }
}
