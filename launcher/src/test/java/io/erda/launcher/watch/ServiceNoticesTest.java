package io.erda.launcher.watch;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ResourceBundle;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ServiceNoticesTest {
  /** A log without a reader: writing to it blocks. */
  private static final class FullLog implements System.Logger {
    private final CountDownLatch read = new CountDownLatch(1);
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    @Override
    public String getName() {
      return "full";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
      log(level, bundle, message);
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
      try {
        read.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      lines.add(level + " " + format);
    }
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aWarningDoesNotWaitForWhoeverReadsTheLog(@TempDir Path directory) throws Exception {
    FullLog log = new FullLog();
    ServiceManager nobody = new ServiceManager(directory.resolve("nobody").toString());
    ServiceNotices notices = new ServiceNotices(nobody, log);
    notices.ready("serves");
    notices.status("the store is read-only");
    notices.stopping();
    log.read.countDown();
    for (int i = 0; i < 3; i++) {
      String line = log.lines.poll(1, TimeUnit.MINUTES);
      assertTrue(line.startsWith("WARNING can't tell the service manager: "), line);
    }
  }
}
