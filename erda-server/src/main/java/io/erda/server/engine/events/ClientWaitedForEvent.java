package io.erda.server.engine.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * A client had not left a region when the region's space was taken back. There is one event for
 * each such client.
 */
@Name("io.erda.ClientWaitedFor")
@Label("Client Waited For")
@Category("Erda")
@Description("Space of a region was taken back before this client said that it left it")
@StackTrace(false)
public final class ClientWaitedForEvent extends Event {
  @Label("Client ID")
  public int clientId;

  @Label("Client Process ID")
  public long clientPid;

  @Label("Head")
  public int head;

  @Label("Region")
  @Description("Index along the head")
  public int region;

  @Label("Generation")
  public int generation;
}
