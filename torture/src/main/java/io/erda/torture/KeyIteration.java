package io.erda.torture;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import io.erda.protocol.ErdaException;
import io.erda.simulation.history.OperationKind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Iterations over the keys of the store. In the history an iteration is a get of some of the keys,
 * which begin with it: the get of a key that is given ends at that time, with its value; all others
 * end with the iteration, and find nothing. No key may be given twice. One thread at a time.
 */
final class KeyIteration {
  private static final String KEY_PREFIX = "torture-";

  /** The hot keys and this many other keys are recorded. */
  private static final int OTHERS = 48;

  /** After one in so many keys the iteration pauses, and the client does other operations. */
  private static final int REST_ODDS = 64;

  private static final long REST_NS_MAX = 4_000_000;

  /** This many errors in a row end an iteration. */
  private static final int ERRORS_MAX = 3;

  private static final long RETRY_NS = 5_000_000;

  private final ClientLog log;
  private final Watchdog.Watch watch;
  private final int keysMax;
  private final MemorySegment value = Arena.ofAuto().allocate(TortureValue.BYTES_MAX, 8);

  /** By key: the get that has not ended. */
  private final Map<Integer, ClientLog.Begun> gets = new HashMap<>();

  private final BitSet given = new BitSet();

  /**
   * @param keysMax the most keys that will ever be used
   */
  KeyIteration(ClientLog log, Watchdog.Watch watch, int keysMax) {
    this.log = log;
    this.watch = watch;
    this.keysMax = keysMax;
  }

  /**
   * Iterates to the end, or until it fails.
   *
   * @param keys that are in use now
   * @param between does other operations with the same client
   */
  ClientLog.Outcome run(
      ErdaClient erda, SplittableRandom random, int keys, Supplier<ClientLog.Outcome> between) {
    begin(random, keys);
    ClientLog.Outcome outcome;
    try (KeyCursor cursor = erda.keys()) {
      outcome = iterate(cursor, random, between);
    } catch (WrongThreadException e) {
      outcome = ClientLog.Outcome.NOT_OWNED;
    } catch (IllegalStateException e) {
      outcome = ClientLog.Outcome.CLOSED;
    } finally {
      watch.end();
    }
    if (outcome == ClientLog.Outcome.DONE) {
      gets.values().forEach(get -> log.got(get, value, -1));
      Tally.count(Tally.ITERATIONS);
    } else {
      gets.values().forEach(log::withoutEffect);
    }
    return outcome;
  }

  private void begin(SplittableRandom random, int keys) {
    given.clear();
    gets.clear();
    for (int key = 0; key < Torture.HOT_KEYS; key++) {
      gets.put(key, log.begin(OperationKind.GET, key));
    }
    for (int i = 0; i < OTHERS; i++) {
      gets.computeIfAbsent(random.nextInt(keys), key -> log.begin(OperationKind.GET, key));
    }
  }

  private ClientLog.Outcome iterate(
      KeyCursor cursor, SplittableRandom random, Supplier<ClientLog.Outcome> between) {
    int errors = 0;
    while (errors < ERRORS_MAX) {
      watch.begin("next() of an iteration", Watchdog.OPERATION_NS);
      try {
        if (!cursor.next()) {
          return ClientLog.Outcome.DONE;
        }
        errors = 0;
      } catch (ErdaException.Unavailable | ErdaException.Refused e) {
        // The iteration may be continued after an error.
        errors++;
        LockSupport.parkNanos(RETRY_NS);
        continue;
      } catch (ErdaException.Damaged e) {
        Complaint.say("an iteration: " + e.getMessage());
        continue;
      } finally {
        watch.end();
      }
      gave(new String(cursor.key(), US_ASCII), cursor.value(value));
      if (random.nextInt(REST_ODDS) == 0) {
        ClientLog.Outcome outcome = between.get();
        if (outcome == ClientLog.Outcome.NOT_OWNED || outcome == ClientLog.Outcome.CLOSED) {
          return outcome;
        }
        LockSupport.parkNanos(random.nextLong(REST_NS_MAX));
      }
    }
    return ClientLog.Outcome.FAILED;
  }

  private void gave(String name, long length) {
    int key = number(name);
    if (key < 0) {
      Complaint.say("an iteration gave a key that nobody put, " + name);
      return;
    }
    if (given.get(key)) {
      Complaint.say(key, "an iteration gave the key twice");
    }
    given.set(key);
    ClientLog.Begun get = gets.remove(key);
    if (get != null) {
      log.got(get, value, length);
    } else if (TortureValue.idOf(value, length) == TortureValue.WRONG) {
      Complaint.say(key, "an iteration gave bytes that nobody put");
    }
  }

  /** The number of a key, or -1 when it is not a key of the torture. */
  private int number(String name) {
    try {
      int key =
          name.startsWith(KEY_PREFIX) ? Integer.parseInt(name.substring(KEY_PREFIX.length())) : -1;
      return key < keysMax ? key : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
