package io.erda.server.engine.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** One doubling of the table, from the creation of the file to the last entry moved. */
@Name("io.erda.Doubling")
@Label("Doubling")
@Category("Erda")
@Description("The hash table is doubled")
@StackTrace(false)
@Registered
public final class DoublingEvent extends ResizingEvent {}
