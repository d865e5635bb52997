package io.erda.server.engine.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A region was unlinked; its space is not given back yet. */
@Name("io.erda.RegionRetired")
@Label("Region Retired")
@Category("Erda")
@Description("A cleaned region is unlinked: nobody reaches it any more")
@StackTrace(false)
public final class RegionRetiredEvent extends Event {
  @Label("Head")
  public int head;

  @Label("Region")
  @Description("Index along the head")
  public int region;

  @Label("Generation")
  public int generation;

  @Label("Epoch")
  @Description("Epoch of the first map without the region")
  public long epoch;
}
