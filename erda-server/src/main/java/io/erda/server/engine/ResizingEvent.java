package io.erda.server.engine;

import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Registered;

/** One resizing of the table, from the creation of the file to the last entry moved. */
@Registered(false)
abstract class ResizingEvent extends Event {
  @Label("From Buckets")
  long fromBuckets;

  @Label("To Buckets")
  long toBuckets;

  @Label("Entries")
  long entries;
}
