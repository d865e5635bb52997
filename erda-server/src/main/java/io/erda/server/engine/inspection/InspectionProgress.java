package io.erda.server.engine.inspection;

/** Receives the progress of an inspection. */
public interface InspectionProgress {
  /** {@code done} of {@code all} things are checked. */
  void at(String what, long done, long all);
}
