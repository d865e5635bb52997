package io.erda.server.engine.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * The space of a region was given back to the file system; the event lasts from the region's
 * retirement.
 */
@Name("io.erda.RegionReleased")
@Label("Region Released")
@Category("Erda")
@Description(
    "Space of a region goes back to the file system, after its clients left or were waited for")
@StackTrace(false)
public final class RegionReleasedEvent extends Event {
  @Label("Head")
  public int head;

  @Label("Region")
  @Description("Index along the head")
  public int region;

  @Label("Generation")
  public int generation;

  @Label("Clients Waited For")
  @Description("Clients that had not said that they left")
  public int clientsLate;
}
