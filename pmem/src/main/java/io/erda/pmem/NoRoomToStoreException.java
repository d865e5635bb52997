package io.erda.pmem;

import java.util.function.BooleanSupplier;

/**
 * A store to mapped memory failed because the file system has no room for the page. A file system
 * that copies on write needs new space even for a page that was stored before. There may be room
 * again later.
 */
public final class NoRoomToStoreException extends FailedStoreException {
  private static final long serialVersionUID = 1L;

  private final transient BooleanSupplier room;

  /**
   * @param room says whether the page could be stored to now
   */
  public NoRoomToStoreException(OutOfSpaceException cause, BooleanSupplier room) {
    super(cause);
    this.room = room;
  }

  /** Whether there is room again. Asks the file system, which may take as long as a write. */
  public boolean isOver() {
    return room.getAsBoolean();
  }
}
