package io.erda.simulation.history;

/** What a client asked for. The order is part of the log's format. */
public enum Operation {
  PUT,
  GET,
  DELETE
}
