package io.erda.simulation;

/**
 * The simulated process ended inside a store. An error, so that no handler of exceptions in
 * production code swallows it: it is caught by the one who steps the process, who drops everything
 * the process had.
 */
public final class SimulatedCrash extends Error {
  private static final long serialVersionUID = 1L;

  SimulatedCrash(String message, boolean trace) {
    super(message, null, false, trace);
  }
}
