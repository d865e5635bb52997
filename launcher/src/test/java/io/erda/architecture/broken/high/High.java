package io.erda.architecture.broken.high;

import io.erda.architecture.Outside;
import org.junit.jupiter.api.DisplayName;

/** Needs more than the JDK, and a class of the package around its own. */
@DisplayName("high")
public final class High {
  private final Outside outside = new Outside();

  @Override
  public int hashCode() {
    return outside.hashCode();
  }
}
