package io.erda.server.engine;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** One doubling of the table, from the creation of the file to the last entry moved. */
@Name("io.erda.Doubling")
@Label("Doubling")
@Category("Erda")
@Description("The hash table is doubled")
@StackTrace(false)
final class DoublingEvent extends Event {
  @Label("From Buckets")
  long fromBuckets;

  @Label("To Buckets")
  long toBuckets;

  @Label("Entries")
  long entries;
}
