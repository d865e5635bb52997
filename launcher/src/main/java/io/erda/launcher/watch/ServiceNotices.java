package io.erda.launcher.watch;

import java.io.IOException;

/**
 * Informs the service manager. A failure to do so only logs a warning. No call blocks, neither for
 * the service manager nor for the reader of the log: the server's own thread calls, and a full pipe
 * would stop the store. Any thread may call.
 */
public final class ServiceNotices {
  private interface Notice {
    void send() throws IOException;
  }

  private final ServiceManager manager;
  private final System.Logger log;

  /**
   * @param log receives the warnings, in threads of their own
   */
  public ServiceNotices(ServiceManager manager, System.Logger log) {
    this.manager = manager;
    this.log = log;
  }

  /** Tells that the process has started its service. */
  public void ready(String status) {
    tell(() -> manager.ready(status));
  }

  /** Tells what the process is doing. */
  public void status(String status) {
    tell(() -> manager.status(status));
  }

  /** Tells that the process is about to end. */
  public void stopping() {
    tell(manager::stopping);
  }

  private void tell(Notice notice) {
    try {
      notice.send();
    } catch (IOException e) {
      // One thread for each notice: there are few in the life of a process.
      Thread writer =
          new Thread(() -> log.log(System.Logger.Level.WARNING, e.getMessage()), "erda-notices");
      writer.setDaemon(true);
      try {
        writer.start();
      } catch (OutOfMemoryError noThread) {
        // Without a thread for it the warning is lost.
      }
    }
  }
}
