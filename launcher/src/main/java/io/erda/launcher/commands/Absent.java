package io.erda.launcher.commands;

/** How a command ends that was asked for a key which has no value. */
final class Absent {
  /** Neither failure nor wrong usage, so that a script can tell them apart. */
  static final int EXIT_CODE = 3;

  static UserError key(byte[] key) {
    return new UserError("no such key: " + ExactText.printable(key), EXIT_CODE);
  }

  private Absent() {}
}
