package io.erda.server.engine.inspection;

/** Told how far an inspection has come. */
public interface InspectionProgress {
  /** So much of something is done. */
  void at(String what, long done, long all);
}
