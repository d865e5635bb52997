package io.erda.simulation.system;

import io.erda.client.connections.LocalPublisher;
import io.erda.server.engine.service.LocalLine;
import io.erda.server.engine.service.ServerCore;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The turn of a server that clients in its process share, as {@code StepTurn} has it for threads.
 * In the simulation a step, or a commit of a client, is over before the next one begins, unless it
 * waits for a drain: then others go on. So a commit meets commits of other clients between its look
 * at a version word and its swap, and neither a step nor a commit begins while it must not.
 */
final class InsideTurn implements LocalPublisher {
  /** One put in so many takes the turn alone although it could share it. */
  private static final int ALONE_ODDS = 16;

  private final ServerCore core;
  private final RandomGenerator random;
  private final List<InsideLine> sharers = new ArrayList<>();

  /** Whether a step of the server is under way. */
  private boolean stepping;

  /** How many commits are under way. */
  private int within;

  private long commits;

  InsideTurn(ServerCore core, RandomGenerator random) {
    this.core = core;
    this.random = random;
  }

  /** Number of puts and deletes that clients have committed beside each other. */
  long commits() {
    return commits;
  }

  /**
   * Takes a step of the server, unless clients are in the turn. Returns 0 when nothing was done.
   */
  int step() {
    if (!core.mayHaveWork()) {
      return 0;
    }
    if (!begin()) {
      return 1;
    }
    core.beginTurn();
    int work = core.doWork();
    core.endTurn();
    stepping = false;
    return work;
  }

  /** Whether nobody is in the turn. */
  boolean isFree() {
    return !stepping && within == 0;
  }

  /** Takes the turn for good. REQUIRES: it is free. */
  void end() {
    if (!begin()) {
      throw new IllegalStateException("somebody is in the turn");
    }
  }

  /** Begins a step, if nobody is in the turn. A crash within the step ends the process. */
  private boolean begin() {
    if (!isFree()) {
      return false;
    }
    stepping = true;
    for (InsideLine each : sharers) {
      if (each.hasNews) {
        each.hasNews = false;
        core.localPuts().takeNoteOf(each.line);
      }
    }
    sharers.removeIf(each -> core.localPuts().isGone(each.line));
    return true;
  }

  @Override
  public Line line(int clientId, int connectionEpoch) {
    return new InsideLine(new LocalLine(clientId, connectionEpoch, core.localPuts().committer()));
  }

  private final class InsideLine implements Line {
    private final LocalLine line;
    private boolean isSharer;
    private boolean hasNews;

    InsideLine(LocalLine line) {
      this.line = line;
    }

    @Override
    public boolean isFree() {
      return !stepping;
    }

    @Override
    public int publish(Built object) {
      if (stepping) {
        return LATER;
      }
      int outcome = isSharer && random.nextInt(ALONE_ODDS) > 0 ? publishShared(object) : LATER;
      return outcome == LATER ? publishAlone(object) : outcome;
    }

    private int publishShared(Built object) {
      within++;
      int outcome = core.localPuts().commit(line, object);
      within--;
      if (outcome != LATER) {
        hasNews = true;
        commits++;
      }
      return outcome;
    }

    private int publishAlone(Built object) {
      if (!begin()) {
        return LATER;
      }
      int outcome = core.localPuts().publish(line, object);
      if (!isSharer && core.localPuts().commits(line)) {
        sharers.add(this);
        isSharer = true;
      }
      stepping = false;
      return outcome;
    }

    @Override
    public String failure() {
      return core.readOnlyReason();
    }

    @Override
    public Throwable cause() {
      return null;
    }
  }
}
