package io.erda.server.engine;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The space of a region goes back to the file system; lasts from when it was retired. */
@Name("io.erda.RegionReleased")
@Label("Region Released")
@Category("Erda")
@Description(
    "Space of a region goes back to the file system, after its clients left or were waited for")
@StackTrace(false)
final class RegionReleasedEvent extends Event {
  @Label("Head")
  int head;

  @Label("Region")
  @Description("Index along the head")
  int region;

  @Label("Generation")
  int generation;

  @Label("Clients Waited For")
  @Description("That had not said that they left")
  int clientsLate;
}
