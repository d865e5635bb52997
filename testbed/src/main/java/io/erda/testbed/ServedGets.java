package io.erda.testbed;

import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import io.erda.protocol.ErdaException;

/** Reads all keys of a server that lives, when its calls do not fail any more: gets go on. */
final class ServedGets {
  private final Outcome outcome;

  ServedGets(Outcome outcome) {
    this.outcome = outcome;
  }

  void readThrough(String uri) {
    try (ErdaClient client = ErdaClient.connect(uri);
        KeyCursor keys = client.keys()) {
      while (keys.next()) {
        client.get(keys.key());
      }
    } catch (ErdaException e) {
      outcome.complain("a server that lives is not read any more: " + e.getMessage());
    } catch (RuntimeException | Error e) {
      outcome.complain("a client's call ends with " + e);
    }
  }
}
