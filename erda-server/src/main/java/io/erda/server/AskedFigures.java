package io.erda.server;

import io.erda.protocol.ErdaException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Lets other threads request the server's figures from the server's thread. All threads that have
 * requested them before an answer get the same answer. Any thread may call {@link #ask}. Only the
 * server's thread calls {@link #answer} and {@link #end}; while no thread waits this costs it one
 * load.
 */
final class AskedFigures {
  private final AtomicReference<CompletableFuture<Map<String, Long>>> asked =
      new AtomicReference<>();
  private volatile boolean ended;

  /** Whether a thread waits for an answer. */
  boolean any() {
    return asked.get() != null;
  }

  /**
   * Answers all waiting threads.
   *
   * @param figures reads the figures; null when they can't be read now
   */
  void answer(Supplier<Map<String, Long>> figures) {
    CompletableFuture<Map<String, Long>> question = asked.getAndSet(null);
    if (question == null) {
      return;
    }
    Map<String, Long> answer = null;
    try {
      answer = figures.get();
    } finally {
      question.complete(answer);
    }
  }

  /** Ends the answering. Later requests fail. */
  void end() {
    ended = true;
    CompletableFuture<Map<String, Long>> question = asked.getAndSet(null);
    if (question != null) {
      question.complete(null);
    }
  }

  /**
   * Requests the figures, and waits for the answer.
   *
   * @param wakeup wakes the server's thread
   * @throws ErdaException.Unavailable when the server has ended, or does not answer in time
   */
  Map<String, Long> ask(Duration timeout, Runnable wakeup) throws InterruptedException {
    CompletableFuture<Map<String, Long>> question = new CompletableFuture<>();
    CompletableFuture<Map<String, Long>> before = asked.compareAndExchange(null, question);
    question = before == null ? question : before;
    if (ended) {
      end();
    }
    wakeup.run();
    try {
      Map<String, Long> answer =
          question.get(TimeUnit.NANOSECONDS.convert(timeout), TimeUnit.NANOSECONDS);
      if (answer == null) {
        throw new ErdaException.Unavailable(
            ended ? "the server has ended" : "the server can't read its figures now");
      }
      return answer;
    } catch (TimeoutException e) {
      throw new ErdaException.Unavailable("the server does not tell its figures in " + timeout);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
