package io.erda.verbs;

/** Counts of one end's READs and WRITEs of the other end's memory. */
final class Moved {
  long reads;
  long bytesRead;
  long writes;
  long bytesWritten;

  void add(Moved other) {
    reads += other.reads;
    bytesRead += other.bytesRead;
    writes += other.writes;
    bytesWritten += other.bytesWritten;
  }
}
