package io.erda.eval.peers.process;

import java.util.List;

/**
 * Where a system comes from.
 *
 * @param artifact what its jar is called; empty when it has none
 * @param program of the machine that runs it; empty when none does
 * @param flags that its JVM needs beside those of every JVM of ours
 */
record PeerOrigin(String artifact, String program, List<String> flags) {
  /** Part of this build. */
  static final PeerOrigin OURS = new PeerOrigin("", "", List.of());

  /** A jar that is fetched. */
  static PeerOrigin jar(String artifact, String... flags) {
    return new PeerOrigin(artifact, "", List.of(flags));
  }

  /** A program that is installed, by a package of the same name. */
  static PeerOrigin program(String program) {
    return new PeerOrigin("", program, List.of());
  }
}
