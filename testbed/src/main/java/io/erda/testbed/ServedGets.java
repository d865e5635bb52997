package io.erda.testbed;

import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import io.erda.protocol.ErdaException;

/** Reads all keys from a live server, after its calls have stopped failing: gets must work. */
final class ServedGets {
  private final ConfigurationResult outcome;

  ServedGets(ConfigurationResult outcome) {
    this.outcome = outcome;
  }

  /** Reads all keys. Returns why that failed, or null. */
  String readThrough(String uri) {
    try (ErdaClient client = ErdaClient.connect(uri);
        KeyCursor keys = client.keys()) {
      while (keys.next()) {
        client.get(keys.key());
      }
      return null;
    } catch (ErdaException e) {
      return e.getMessage();
    } catch (RuntimeException | Error e) {
      outcome.complain("a client's call ends with " + e);
      return null;
    }
  }
}
