package io.erda.console;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** What standard output, and the other standard streams, lead to. */
public final class StandardOutput {
  private static final int BUFFER_BYTES = 1 << 16;

  /**
   * Nothing can be written to standard output any more. A command that meets it ends as one that is
   * done: why, and with which exit code, is said when the process ends.
   */
  public static final class Lost extends IOException {
    private static final long serialVersionUID = 1L;
  }

  /** {@link System#out} swallows what went wrong, and would take the rest of a store then. */
  private static final class Results extends OutputStream {
    private final PrintStream out = System.out;
    private boolean lost;

    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      if (!lost) {
        out.write(bytes, offset, length);
        lost = out.checkError();
      }
      if (lost) {
        throw new Lost();
      }
    }
  }

  /**
   * Standard output for many results, through a buffer. Whoever writes to it gets a {@link Lost}
   * when nobody reads it any more. To close it writes what is left, and closes nothing.
   */
  public static OutputStream results() {
    return new BufferedOutputStream(new Results(), BUFFER_BYTES);
  }

  /**
   * Whether somebody reads it on a terminal. Asked of the kernel: the JDK tells it only together
   * with standard input.
   */
  public static boolean isTerminal() {
    return leadsToTerminal(1);
  }

  /** Whether somebody reads standard error on a terminal. */
  public static boolean errorIsTerminal() {
    return leadsToTerminal(2);
  }

  /** Whether standard input is typed on a terminal. */
  public static boolean inputIsTerminal() {
    return leadsToTerminal(0);
  }

  private static boolean leadsToTerminal(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/")
          || target.startsWith("/dev/tty")
          || target.equals("/dev/console");
    } catch (IOException e) {
      return false;
    }
  }

  private StandardOutput() {}
}
