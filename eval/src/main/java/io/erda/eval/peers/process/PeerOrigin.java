package io.erda.eval.peers.process;

import java.util.List;

/**
 * The origin of a system.
 *
 * @param artifact the name of its jar; empty when it has none
 * @param program the installed program that runs it; empty when there is none
 * @param flags that its JVM needs besides those of every JVM of the build
 */
record PeerOrigin(String artifact, String program, List<String> flags) {
  /** Part of this build. */
  static final PeerOrigin OURS = new PeerOrigin("", "", List.of());

  /** A jar that is fetched on demand. */
  static PeerOrigin jar(String artifact, String... flags) {
    return new PeerOrigin(artifact, "", List.of(flags));
  }

  /** An installed program, from a package of the same name. */
  static PeerOrigin program(String program) {
    return new PeerOrigin("", program, List.of());
  }
}
