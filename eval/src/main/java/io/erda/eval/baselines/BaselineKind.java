package io.erda.eval.baselines;

/** How a put gets into the redo log; all else is the same. */
public enum BaselineKind {
  /** The client SENDs the object, and the server appends it. */
  REDO_LOGGING,
  /** The client asks for a place, WRITEs the object there and READs behind it. */
  READ_AFTER_WRITE
}
