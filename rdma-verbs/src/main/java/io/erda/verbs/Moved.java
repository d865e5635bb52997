package io.erda.verbs;

/** How many bytes and operations one end has moved to and from the memory of the other. */
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
