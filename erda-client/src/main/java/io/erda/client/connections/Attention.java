package io.erda.client.connections;

/**
 * Says that the next turn of a client has more to do than to poll. Any part of the client asks for
 * it; {@code ClientCore} looks at it in each turn.
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
