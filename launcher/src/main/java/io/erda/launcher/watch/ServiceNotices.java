package io.erda.launcher.watch;

import java.io.IOException;

/**
 * Keeps the service manager informed, as well as that can be done: one that can't be told is a
 * warning in the log, and no reason not to serve. No call waits, neither for the service manager
 * nor for whoever reads the log: the server's own thread calls, and a pipe that nobody empties
 * would stop the store. Any thread may call.
 */
public final class ServiceNotices {
  private interface Notice {
    void send() throws IOException;
  }

  private final ServiceManager manager;
  private final System.Logger log;

  /**
   * @param log gets the warnings, in threads of their own
   */
  public ServiceNotices(ServiceManager manager, System.Logger log) {
    this.manager = manager;
    this.log = log;
  }

  /** The process does now what it was started for. */
  public void ready(String status) {
    tell(() -> manager.ready(status));
  }

  /** What the process is about. */
  public void status(String status) {
    tell(() -> manager.status(status));
  }

  /** The process is about to end. */
  public void stopping() {
    tell(manager::stopping);
  }

  private void tell(Notice notice) {
    try {
      notice.send();
    } catch (IOException e) {
      // There are as many as notices: few in the life of a process.
      Thread writer =
          new Thread(() -> log.log(System.Logger.Level.WARNING, e.getMessage()), "erda-notices");
      writer.setDaemon(true);
      try {
        writer.start();
      } catch (OutOfMemoryError noThread) {
        // Without a thread to say so in, the warning is not to be had.
      }
    }
  }
}
