package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClient;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * An application with a server and its clients, whose heap has no byte left for a while, so that
 * any thread gets no memory at any point. When there is memory again it closes the server, and
 * serves the store again at the same port. Run as {@code OutOfMemoryServingScenario DIRECTORY
 * DEVICE}; prints {@code done}.
 */
final class OutOfMemoryServingScenario {
  private static final int ROUNDS = 5;
  private static final int CLIENTS = 3;
  private static final int FULL_MS = 500;
  private static final byte[] FIRST_KEY = "first".getBytes(UTF_8);

  /** The smallest object that has a field. */
  private record Link(Link next) {}

  private final Path data;
  private final boolean isEmbedded;

  /** A free port at first, and then that one. */
  private String address = "127.0.0.1:0";

  /** Keeps the objects that fill the heap. */
  @SuppressWarnings("unused")
  private Link last;

  private volatile boolean ends;

  private OutOfMemoryServingScenario(Path data, boolean isEmbedded) {
    this.data = data;
    this.isEmbedded = isEmbedded;
  }

  public static void main(String[] arguments) throws InterruptedException {
    var scenario =
        new OutOfMemoryServingScenario(Path.of(arguments[0]), arguments[1].equals("embedded"));
    for (int round = 0; round < ROUNDS; round++) {
      if (scenario.isEmbedded) {
        scenario.embed();
      } else {
        scenario.serve();
      }
    }
    System.out.println("done");
  }

  private void embed() throws InterruptedException {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS)) {
      putWhileThereIsNoMemory(store::client);
    }
  }

  private void serve() throws InterruptedException {
    ServerOptions options = SmallStore.OPTIONS.withListening(List.of(Listening.tcp(address)));
    try (ErdaServer server = ErdaServer.start(data, options)) {
      String uri = server.uris().getLast();
      address = uri.substring(uri.lastIndexOf('/') + 1);
      putWhileThereIsNoMemory(() -> ErdaClient.connect(uri));
    }
  }

  private void putWhileThereIsNoMemory(Supplier<ErdaClient> clients) throws InterruptedException {
    ends = false;
    try (ErdaClient client = clients.get()) {
      client.put(FIRST_KEY, FIRST_KEY);
    }
    List<Thread> putting = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      byte first = (byte) i;
      putting.add(new Thread(() -> put(clients, first)));
    }
    putting.forEach(Thread::start);
    Thread.sleep(100);
    fill();
    try {
      Thread.sleep(FULL_MS);
    } catch (OutOfMemoryError e) {
      // It was less.
    }
    last = null;
    ends = true;
    for (Thread each : putting) {
      each.join();
    }
  }

  private void fill() {
    Link newest = null;
    try {
      while (true) {
        newest = new Link(newest);
      }
    } catch (OutOfMemoryError e) {
      last = newest;
    }
  }

  private void put(Supplier<ErdaClient> clients, byte first) {
    while (!ends) {
      try (ErdaClient client = clients.get()) {
        for (byte i = 0; !ends; i++) {
          byte[] key = {first, i};
          client.put(key, new byte[100]);
          client.delete(key);
        }
      } catch (RuntimeException | Error e) {
        // The application goes on.
      }
    }
  }
}
