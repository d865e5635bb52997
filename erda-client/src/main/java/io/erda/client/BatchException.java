package io.erda.client;

import io.erda.protocol.ErdaException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Some operations of a call with several keys failed: {@link #errors()} says which, and how. The
 * others are done, as if each of them had been called alone. The cause is the first failure, by the
 * order of the keys.
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

  /** Why each operation failed, by the order of the keys; null for those that are done. */
  public List<ErdaException> errors() {
    return errors;
  }
}
