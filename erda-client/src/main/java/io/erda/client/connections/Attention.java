package io.erda.client.connections;

/**
 * A flag that the next turn of a client has more to do than to poll. Any part of the client sets
 * it; {@code ClientCore} checks it in each turn.
 */
public final class Attention {
  private boolean asked;

  public void ask() {
    asked = true;
  }

  public void clear() {
    asked = false;
  }

  public boolean isAsked() {
    return asked;
  }
}
