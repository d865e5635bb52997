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

  /** Returns why the server can't be read, or null when it was read to the end. */
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
