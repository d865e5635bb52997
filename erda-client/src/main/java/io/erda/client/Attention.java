package io.erda.client;

/**
 * Says that the next turn of a client has more to do than to poll. Any part of the client asks for
 * it; {@link ClientCore} looks at it in each turn.
 */
final class Attention {
  private boolean asked;

  void ask() {
    asked = true;
  }

  void clear() {
    asked = false;
  }

  boolean isAsked() {
    return asked;
  }
}
