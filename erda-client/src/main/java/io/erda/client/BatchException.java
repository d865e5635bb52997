package io.erda.client;

import io.erda.protocol.ErdaException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Some operations of a call with several keys failed; {@link #errors()} has the exception of each.
 * All other operations are done, as if each had been called alone. The cause of this exception is
 * the failure of the first key that failed, by the order of the keys.
 */
public final class BatchException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("serial") // the list is serializable, and so are exceptions
  private final List<ErdaException> errors;

  private BatchException(String message, ErdaException first, List<ErdaException> errors) {
    super(message, first);
    this.errors = errors;
  }

  /**
   * Throws a {@code BatchException} when at least one operation failed.
   *
   * @param failed how many of the errors are not null
   */
  static void throwIfAny(int failed, ErdaException[] errors) {
    if (failed == 0) {
      return;
    }
    int first = 0;
    while (errors[first] == null) {
      first++;
    }
    String message =
        failed
            + " of "
            + errors.length
            + " operations failed, the first one (key "
            + first
            + " of the call): "
            + errors[first].getMessage();
    throw new BatchException(
        message, errors[first], Collections.unmodifiableList(Arrays.asList(errors)));
  }

  /**
   * Returns the exception of each operation, by the order of the keys; null for each operation that
   * is done.
   */
  public List<ErdaException> errors() {
    return errors;
  }
}
