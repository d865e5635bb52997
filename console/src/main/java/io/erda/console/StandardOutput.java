package io.erda.console;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Standard output for results, and where the standard streams lead. */
public final class StandardOutput {
  private static final int BUFFER_BYTES = 1 << 16;

  /**
   * Standard output can't be written to any more. A command that gets this exception ends as if it
   * was done: the reason is reported, and the exit code set, when the process ends.
   */
  public static final class Lost extends IOException {
    private static final long serialVersionUID = 1L;
  }

  /**
   * A stream that reports errors, which {@link System#out} swallows: a command would go on reading
   * the whole store.
   */
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
   * Standard output for many results, through a buffer. Writing throws {@link Lost} when its reader
   * has left. Closing it writes the rest, and closes nothing.
   */
  public static OutputStream results() {
    return new BufferedOutputStream(new Results(), BUFFER_BYTES);
  }

  /**
   * Whether standard output is a terminal. Asked of the kernel, because the JDK tells it only
   * together with standard input.
   */
  public static boolean isTerminal() {
    return leadsToTerminal(1);
  }

  /** Whether standard error is a terminal. */
  public static boolean errorIsTerminal() {
    return leadsToTerminal(2);
  }

  /** Whether standard input is a terminal. */
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
