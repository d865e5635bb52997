package io.erda.server.engine.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A region was linked to a head. */
@Name("io.erda.RegionLinked")
@Label("Region Linked")
@Category("Erda")
@Description("A region is linked to a head")
@StackTrace(false)
public final class RegionLinkedEvent extends Event {
  @Label("Head")
  public int head;

  @Label("Region")
  @Description("Index along the head")
  public int region;

  @Label("Generation")
  public int generation;

  @Label("Free Regions")
  @Description("Regions that may still be linked")
  public int freeRegions;
}
