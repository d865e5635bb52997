package io.erda.server.engine.events;

import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Registered;

/** One resizing of the table, from the creation of the file to the last entry moved. */
@Registered(false)
public abstract class ResizingEvent extends Event {
  @Label("From Buckets")
  public long fromBuckets;

  @Label("To Buckets")
  public long toBuckets;

  @Label("Entries")
  public long entries;
}
