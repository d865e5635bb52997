package io.erda.client.connections;

/**
 * A flag that makes the next turn of a client do more than poll. Any part of the client sets it;
 * {@code ClientCore} checks it in each turn.
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
