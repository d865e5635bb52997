package io.erda.server.engine;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A region becomes a head's. */
@Name("io.erda.RegionLinked")
@Label("Region Linked")
@Category("Erda")
@Description("A region is linked to a head")
@StackTrace(false)
final class RegionLinkedEvent extends Event {
  @Label("Head")
  int head;

  @Label("Region")
  @Description("Index along the head")
  int region;

  @Label("Generation")
  int generation;

  @Label("Free Regions")
  @Description("That may still be linked")
  int freeRegions;
}
