package io.erda.server.engine.events;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Throttle;

/** A request was refused for lack of space. */
@Name("io.erda.SpaceExhausted")
@Label("Space Exhausted")
@Category("Erda")
@Description("A request was refused because something is full")
@StackTrace(false)
@Throttle("100/s")
public final class SpaceExhaustedEvent extends Event {
  @Label("What")
  @Description(
      "LOG, TABLE, BUCKET (of the table), DISK, FILE (a file may not be so large), CONNECTIONS or"
          + " QUOTA")
  public String what;

  @Label("Client ID")
  @Description("0 for a client that could not connect")
  public int clientId;

  @Label("Head")
  @Description("-1 where none is meant")
  public int head;

  @Label("Bytes Asked")
  @DataAmount
  public long bytes;
}
