package io.erda.logstore;

/** Told of every region that becomes linked, before anyone gets space in it, and of its end. */
public interface LinkListener {
  /**
   * When it throws, the region stays linked, {@link LogStore#lease} fails, and the next lease tells
   * all listeners again.
   */
  void linked(Region region);

  /**
   * A region is no longer the head's: makes the map newer, then ends every way to reach it. When it
   * returns nobody accepts anything that is read there, and what is written there is nobody's. From
   * then on the region's memory is the listener's, who calls {@link FileSupply#reuse} or {@link
   * FileSupply#remove} once, when {@link CleaningSpace#retire} has returned.
   */
  default void retired(Region region) {}
}
