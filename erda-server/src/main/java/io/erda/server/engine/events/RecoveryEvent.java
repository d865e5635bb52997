package io.erda.server.engine.events;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** The recovery at one opening of a store. */
@Name("io.erda.Recovery")
@Label("Recovery")
@Category("Erda")
@Description("A store was opened and recovered")
@StackTrace(false)
public final class RecoveryEvent extends Event {
  @Label("Bytes Scanned")
  @DataAmount
  public long bytesScanned;

  @Label("Objects Seen")
  @Description("Whole objects between the water marks")
  public int objects;

  @Label("Committed")
  @Description("Whole versions whose acknowledgement was not sent")
  public int committed;

  @Label("Cleaning Resumed")
  public boolean cleaning;

  @Label("Doubling Resumed")
  public boolean doubling;
}
