package io.erda.server.engine.service;

import io.erda.client.connections.LocalPublisher;
import io.erda.pmem.MemoryFault;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreFailures;
import io.erda.server.engine.store.StoreWriter;
import java.util.function.Consumer;

/**
 * Puts and deletes of clients in this process, done in their threads without a message: see {@link
 * LocalPublisher}. A client does one in a step of the server ({@link #publish}), or beside other
 * clients while no step is under way ({@link #commit}). When both decline, it sends a message.
 */
public final class LocalPuts {
  private static final MemoryGuard.Step<Committer> TELL =
      committer -> {
        committer.tell();
        return 0;
      };

  private final StoreEngine engine;
  private final StoreWriter writer;
  private final Publishing publishing;
  private final StoreFailures failures;
  private final RequestDispatch requests;
  private final Answers answers;
  private final ClientConnections connections;
  private final Consumer<MemoryFault> onFault;
  private final MemoryGuard faults = new MemoryGuard();
  private final MemoryGuard.Access<Connection, LocalPublisher.Built> publishNow;

  /**
   * @param onFault handles a memory fault within a step
   */
  LocalPuts(
      StoreEngine engine,
      StoreWriter writer,
      Publishing publishing,
      StoreFailures failures,
      RequestDispatch requests,
      Answers answers,
      ClientConnections connections,
      Consumer<MemoryFault> onFault) {
    this.engine = engine;
    this.writer = writer;
    this.publishing = publishing;
    this.failures = failures;
    this.requests = requests;
    this.answers = answers;
    this.connections = connections;
    this.onFault = onFault;
    this.publishNow = (connection, object, _, _, _, _) -> publishing.publishNow(connection, object);
  }

  /** Publishes an object in a step. The caller takes whole steps of the server now and then. */
  public int publish(LocalLine line, LocalPublisher.Built object) {
    Connection connection = line.connection(connections);
    if (connection == null || writer.announced() != null) {
      return LocalPublisher.LATER;
    }
    int outcome = faults.access(publishNow, connection, object, 0, 0, 0, 0);
    if (outcome == MemoryGuard.FAULT) {
      onFault.accept(faults.fault());
      return LocalPublisher.FAILED;
    }
    if (outcome == LocalPublisher.DONE || outcome == LocalPublisher.REPLACED) {
      requests.publishedNow(1);
      int flags = object.delete ? Message.FLAG_DELETE : 0;
      answers.answered(Message.PUBLISH, flags, Result.OK, 0);
    }
    return outcome;
  }

  /**
   * Returns what a line commits by; null where each put needs a step. It takes memory, so a line
   * gets it before it is used, in any thread.
   */
  public Committer committer() {
    return Committer.of(engine, writer, publishing, failures, requests, answers);
  }

  /** Whether {@link #commit} may be called from now on. In a step. */
  public boolean commits(LocalLine line) {
    return line.committer() != null
        && line.committer().isOf(engine)
        && line.connection(connections) != null;
  }

  /**
   * Commits an object while others do the same and no step is under way.
   *
   * @param line one that {@link #commits}, or did
   */
  public int commit(LocalLine line, LocalPublisher.Built object) {
    Connection connection = line.connection(connections);
    return connection == null ? LocalPublisher.LATER : line.committer().commit(connection, object);
  }

  /**
   * Takes note of what {@link #commit} has done, before a step does anything else. Where the store
   * can't be written to, it takes no more puts then.
   */
  public void takeNoteOf(LocalLine line) {
    // A fault of earlier work surfaces here, so one behind it belongs to a file of the store.
    if (!faults.attempt(this, _ -> {})) {
      onFault.accept(faults.fault());
    }
    if (faults.step(line.committer(), TELL) == MemoryGuard.FAULT) {
      failures.becauseOf(faults.fault());
    }
  }

  /** Whether the connection of a line has ended, for good. */
  public boolean isGone(LocalLine line) {
    return line.connection(connections) == null;
  }
}
