package io.erda.logstore;

/** Receives each region when it is linked, before space in it is leased, and when it is retired. */
public interface LinkListener {
  /**
   * Called when a region was linked. When this throws, the region stays linked, {@link
   * LogStore#lease} fails, and the next lease calls all listeners again.
   */
  void linked(Region region);

  /**
   * Called when a region was taken from its head. The listener makes the map newer, and then ends
   * every way to reach the region. After its return no reader accepts bytes of the region, and no
   * writer depends on them. The listener owns the region's memory from then on, and calls {@link
   * FileSupply#reuse} or {@link FileSupply#remove} once, after {@link CleaningSpace#retire} has
   * returned.
   */
  default void retired(Region region) {}
}
