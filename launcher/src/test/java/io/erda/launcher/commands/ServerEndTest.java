package io.erda.launcher.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServerEndTest {
  /** Found by a stranger: the process of a server that could not start waited a minute for it. */
  @Test
  void aProcessWhoseServerFailedToStartEndsAtOnce() throws InterruptedException {
    ServerEnd end = new ServerEnd(null, null);
    Error error = new NoClassDefFoundError("no file is left for it");
    assertEquals(
        error,
        assertThrows(
            Error.class,
            () ->
                end.starting(() -> {
                  throw error;
                })));
    assertEquals(ServerEnd.NOT_STARTED, end.endProcess());
  }
}
