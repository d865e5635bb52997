package io.erda.testbed;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * A client that puts and deletes while the calls of its server fail, and knows the possible values
 * of each key: the last acknowledged one, and later ones of unknown outcome.
 */
final class FailingPuts {
  private static final int KEYS = 60;
  private static final int ABSENT = 0;

  /** The most consecutive time-outs. */
  private static final int ERRORS_MAX = 5;

  private static final ClientOptions OPTIONS =
      ClientOptions.DEFAULT
          .withOperationTimeout(Duration.ofSeconds(2))
          .withConnectTimeout(Duration.ofSeconds(2));

  private final Map<String, Set<Integer>> mayBe = new TreeMap<>();
  private final ConfigurationResult outcome;
  private int number;

  FailingPuts(ConfigurationResult outcome) {
    this.outcome = outcome;
  }

  /** Notes the keys of a store that was made with {@link #fill}. */
  void knowFilled() {
    for (int i = 0; i < KEYS; i++) {
      mayBe.put("key " + i, new HashSet<>(Set.of(++number)));
    }
  }

  /** Fills a new store. */
  void fill(String uri) {
    knowFilled();
    try (ErdaClient client = ErdaClient.connect(uri)) {
      mayBe.forEach((key, numbers) -> client.put(key.getBytes(UTF_8), value(key, numbers)));
    }
  }

  private static byte[] value(String key, Set<Integer> numbers) {
    return value(key, numbers.iterator().next());
  }

  private static byte[] value(String key, int number) {
    return (key + " " + number + " " + "x".repeat(100 + number * 37 % 400)).getBytes(UTF_8);
  }

  private static ErdaClient connect(String uri) {
    return ErdaClient.connect(ErdaUri.parse(uri), OPTIONS);
  }

  /**
   * Puts, deletes and cleans for a while, over one connection after the other, each of which causes
   * calls of the server.
   */
  void work(String uri, RandomGenerator random, int operations, int connections) {
    int errors = 0;
    for (int i = 0; i < connections && errors < ERRORS_MAX; i++) {
      try (ErdaClient client = connect(uri)) {
        for (int left = operations / connections; left > 0 && errors < ERRORS_MAX; left--) {
          errors += operate(client, random) ? 0 : 1;
        }
      } catch (ErdaException e) {
        errors++;
        outcome.said("client", "" + e.getMessage());
      } catch (RuntimeException | Error e) {
        errors++;
        outcome.complain("a client's call ends with " + e);
      }
    }
  }

  /** Does one operation. Returns whether it was answered. */
  private boolean operate(ErdaClient client, RandomGenerator random) {
    // Sometimes a new key, so that the table grows.
    String key = "key " + random.nextInt(random.nextInt(4) == 0 ? 8 * KEYS : KEYS);
    Set<Integer> numbers = mayBe.computeIfAbsent(key, unused -> new HashSet<>(Set.of(ABSENT)));
    int next = random.nextInt(8) == 0 ? ABSENT : ++number;
    try {
      if (random.nextInt(100) == 0) {
        client.clean(-1);
      }
      if (next == ABSENT) {
        client.delete(key.getBytes(UTF_8));
      } else {
        client.put(key.getBytes(UTF_8), value(key, next));
      }
      numbers.clear();
      numbers.add(next);
      return true;
    } catch (ErdaException.OutcomeUnknown e) {
      numbers.add(next);
      outcome.said("client", "" + e.getMessage());
    } catch (ErdaException e) {
      outcome.said("client", "" + e.getMessage());
    } catch (RuntimeException | Error e) {
      outcome.complain("a client's call ends with " + e);
    }
    return false;
  }

  /** Reads every key from a server whose calls do not fail. */
  void check(Supplier<ErdaClient> connect) {
    try (ErdaClient client = connect.get()) {
      mayBe.forEach((key, numbers) -> check(client, key, numbers));
    } catch (ErdaException e) {
      outcome.complain("the store can't be read afterwards: " + e.getMessage());
    }
  }

  private void check(ErdaClient client, String key, Set<Integer> numbers) {
    byte[] value = client.get(key.getBytes(UTF_8));
    String text = value == null ? null : new String(value, UTF_8);
    boolean one =
        numbers.stream()
            .anyMatch(each ->
                each == ABSENT
                    ? text == null
                    : text != null && text.equals(new String(value(key, each), UTF_8)));
    if (!one) {
      outcome.complain(
          "%s is %s, and may be %s"
              .formatted(
                  key,
                  text == null ? "absent" : text.substring(0, Math.min(20, text.length())),
                  numbers));
    }
  }
}
