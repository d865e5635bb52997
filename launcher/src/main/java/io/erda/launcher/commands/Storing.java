package io.erda.launcher.commands;

import io.erda.client.BatchException;
import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import java.util.ArrayList;
import java.util.List;

/** Stores many keys, several at a time, for the commands that bring them from elsewhere. */
final class Storing {
  private static final int KEYS_MAX = 64;
  private static final int BYTES_MAX = 1 << 20;

  private final ErdaClient client;
  private final List<byte[]> keys = new ArrayList<>();
  private final List<byte[]> values = new ArrayList<>();
  private long bytes;
  private long stored;

  Storing(ErdaClient client) {
    this.client = client;
  }

  /** What would be stored over is somebody's. */
  static void requireEmpty(ErdaClient client) {
    try (KeyCursor keys = client.keys()) {
      if (keys.next()) {
        throw new UserError("the store has keys; --over stores over those that are named, too");
      }
    }
  }

  /** Stores it now, or with others a little later. */
  void add(byte[] key, byte[] value) {
    keys.add(key);
    values.add(value);
    bytes += key.length + value.length;
    if (keys.size() == KEYS_MAX || bytes >= BYTES_MAX) {
      flush();
    }
  }

  /** Stores what was added. */
  void flush() {
    try {
      client.putAll(keys, values);
    } catch (BatchException e) {
      stored += e.errors().stream().filter(error -> error == null).count();
      throw new UserError(
          "%s; %,d keys were stored before".formatted(e.getCause().getMessage(), stored), 1, e);
    }
    stored += keys.size();
    keys.clear();
    values.clear();
    bytes = 0;
  }

  /** How many were stored. */
  long stored() {
    return stored;
  }
}
