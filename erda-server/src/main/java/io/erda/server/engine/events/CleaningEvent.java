package io.erda.server.engine.events;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The cleaning of one region, from its choice to its end. */
@Name("io.erda.Cleaning")
@Label("Cleaning")
@Category("Erda")
@Description("A region of the log is cleaned: what is live in it is copied to another one")
@StackTrace(false)
final class CleaningEvent extends Event {
  @Label("Head")
  int head;

  @Label("Region")
  @Description("Index along the head")
  int region;

  @Label("Generation")
  int generation;

  @Label("Freed")
  @Description("False: too little would have been gained, or an object in it is damaged")
  boolean freed;

  @Label("Bytes Live")
  @DataAmount
  long bytesLive;

  @Label("Bytes Copied")
  @DataAmount
  long bytesCopied;

  @Label("Rounds")
  @Description("Passes of copying: merge, then replicate until nothing is found")
  int rounds;
}
