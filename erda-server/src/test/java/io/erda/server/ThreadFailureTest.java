package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * An error ends one of the server's other threads. Then the server ends, too, in order, and reports
 * the error. The process of an application goes on.
 */
@Timeout(60)
class ThreadFailureTest {
  @TempDir Path data;

  @Test
  void theFirstFailureEndsAServerInOrder() throws Exception {
    ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
    try (ErdaClient erda = ErdaClient.connect(server.uri())) {
      erda.put(new byte[] {1}, new byte[] {2});
      server.fail("erda-metrics", new NoClassDefFoundError("io/erda/Gone"));
      server.fail("other", new IllegalStateException("later"));
      String why = server.await().getMessage();
      assertTrue(why.startsWith("the thread erda-metrics ended: a class can't be loaded"), why);
      assertTrue(why.contains("io/erda/Gone"), why);
    }
    assertTrue(Files.exists(data.resolve("stopped")), "it stopped as cleanly as ever");
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient erda = store.client()) {
      assertEquals(2, erda.get(new byte[] {1})[0]);
    }
  }

  @Test
  void callersOfAnEmbeddedStoreAreToldByTheirOwnException() throws Exception {
    Failures failures = new Failures();
    EmbeddedRig rig = EmbeddedRig.open(data, SmallStore.OPTIONS, System::nanoTime, failures);
    ServerThread server = rig.server();
    try (ErdaClient erda =
        ErdaClient.over(rig.network().device(), "erda", ClientOptions.DEFAULT, System::nanoTime)) {
      erda.put(new byte[] {1}, new byte[] {2});
      SideThreads.start(
          () -> {
            throw new OutOfMemoryError("unable to create native thread");
          },
          "erda-files",
          failures);
      String why = server.await().getMessage();
      assertTrue(why.startsWith("the thread erda-files ended: no more threads"), why);
      ErdaClient client = erda;
      assertThrows(ErdaException.class, () -> client.put(new byte[] {1}, new byte[] {3}));
    }
  }

  @Test
  void whatFailsBeforeTheServerIsThereEndsItAsSoonAsItIs() {
    Failures failures = new Failures();
    assertNull(failures.first());
    failures.ended("early", new IllegalStateException("gone"));
    List<String> told = new ArrayList<>();
    failures.onFirst(() -> told.add(failures.first().toString()));
    failures.ended("late", new IllegalStateException("gone too"));
    assertEquals(List.of("the thread early ended: java.lang.IllegalStateException: gone"), told);
  }

  /** A logger of an application's that throws an Error loses the log, and so the server. */
  @Test
  void aLogWhoseThreadEndsEndsTheServer() throws Exception {
    CountDownLatch logged = new CountDownLatch(1);
    System.Logger broken =
        new System.Logger() {
          @Override
          public String getName() {
            return "broken";
          }

          @Override
          public boolean isLoggable(Level level) {
            return true;
          }

          @Override
          public void log(
              Level level, java.util.ResourceBundle bundle, String text, Throwable thrown) {
            logged.countDown();
            throw new NoClassDefFoundError("app/Appender");
          }

          @Override
          public void log(
              Level level, java.util.ResourceBundle bundle, String text, Object... parameters) {
            logged.countDown();
            throw new NoClassDefFoundError("app/Appender");
          }
        };
    ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS.withLog(broken));
    logged.await();
    String why = server.await().getMessage();
    assertTrue(why.startsWith("the thread erda-log ended: "), why);
  }
}
