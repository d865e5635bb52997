package io.erda.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import io.erda.protocol.ErdaException.Full;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The part of {@link FullDiskTest} that runs in a separate process, on a small file system or under
 * a file-size limit. It prints its actions, and ends at the first unexpected result.
 */
final class FullDiskScenario {
  private static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(64 << 20)
          .withBuckets(8192)
          .withCleaning(false);
  private static final byte[] VALUE = new byte[10_000];

  /** A value of the writer that is stopped: one word again and again, which no other value has. */
  private static final int WRITER_WORDS = 1 << 17;

  /** The high half of those words; the low half is the put's number. */
  private static final int WRITER_MARK = 0x57A9_11ED;

  private static final long PATIENCE_NS = 120_000_000_000L;

  /**
   * The number of spare queue files that a server keeps for clients that connect when the disk is
   * full.
   */
  private static final int CLIENTS_AT_A_TIME = 16;

  private final Path directory;
  private final Path data;
  private final Path ballast;
  private int keys;

  private FullDiskScenario(Path directory) {
    this.directory = directory;
    this.data = directory.resolve("data");
    this.ballast = directory.resolve("ballast");
  }

  public static void main(String[] arguments) throws Exception {
    FullDiskScenario scenario = new FullDiskScenario(Path.of(arguments[1]));
    switch (arguments[0]) {
      case "disk" -> scenario.disk();
      case "embedded" -> scenario.embedded();
      case "table" -> scenario.table();
      case "stopped-client" -> scenario.stoppedClient();
      case "stopped-writer" -> scenario.stoppedWriter();
      case "writer" -> scenario.writer();
      case "unlimited" -> scenario.unlimited();
      case "cleaned" -> scenario.cleaned();
      case "blocked" -> scenario.blocked();
      case "created" -> scenario.created();
      case "reader" -> scenario.reader();
      case "limited-server" -> scenario.limitedServer();
      case "limited-client" -> scenario.limitedClient();
      default -> throw new IllegalArgumentException(arguments[0]);
    }
    System.out.println("done");
  }

  /** Runs in a separate file system that is a few times as large as the store. */
  private void disk() throws Exception {
    Path regionsWorth = Files.write(directory.resolve("room"), new byte[2 << 20]);
    try (ErdaServer server = ErdaServer.start(data, OPTIONS);
        ErdaClient first = ErdaClient.connect(server.uri())) {
      putUntilFull(first);
      fillUp();
      requireFull(first);
      everyRequestOfANewClient(server);
      asManyClientsAsAreExpected(server);
      oneAfterTheOther(server);
      Files.delete(regionsWorth);
      put(first, keys++);
      require(first.get(key(keys - 1)) != null, "written again without a restart");
    }
    restarts();
  }

  /** Does the same with an embedded store. */
  private void embedded() throws Exception {
    Path regionsWorth = Files.write(directory.resolve("room"), new byte[2 << 20]);
    try (ErdaStore store = ErdaStore.open(data, OPTIONS);
        ErdaClient first = store.client()) {
      putUntilFull(first);
      fillUp();
      requireFull(first);
      everyRequestOfANewClient(store.client());
      Files.delete(regionsWorth);
      put(first, keys++);
      require(first.get(key(keys - 1)) != null, "written again without a restart");
      fillUp();
    }
    try (ErdaStore store = ErdaStore.open(data, OPTIONS)) {
      requireFull(store.client());
      everyRequestOfANewClient(store.client());
    }
  }

  /** No room for a larger table, while the log has some. */
  private void table() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS.withBuckets(4096));
        ErdaClient client = ErdaClient.connect(server.uri())) {
      put(client, 1);
      fillUp();
      byte[] small = {1};
      int count = 0;
      for (boolean full = false; !full; count++) {
        try {
          client.put(key(10 + count), small);
        } catch (Full e) {
          require(e.what() == Full.What.DISK, e.toString());
          // Eight bytes that were no text stood here.
          require(
              e.getMessage().contains(": disk full: no hash table of 8192 buckets: no room for ")
                  && e.getMessage().contains("/table-2; "),
              e.toString());
          full = true;
        }
        require(count < 5000, "more keys than the table has room for");
      }
      require(count > 2048, "beyond half full, " + count);
      require(client.stats().get("table.doublings.postponed") > 0, client.stats().toString());
      client.put(key(10), small); // a key that is there needs no room
      require(client.get(key(10 + count)) == null, "get of what was refused");
      require(client.delete(key(11)) && client.get(key(11)) == null, "delete");
      Files.delete(ballast);
      for (int i = 0; i < 10_000; i++) {
        put(client, small, 10 + i);
      }
      require(client.get(key(9_000)) != null, "written again without a restart");
      require(client.stats().get("table.doublings") > 0, client.stats().toString());
    }
  }

  /** It tries again in its own time. */
  private static void put(ErdaClient client, byte[] value, int key) {
    long untilNs = System.nanoTime() + PATIENCE_NS;
    while (true) {
      try {
        client.put(key(key), value);
        return;
      } catch (Full e) {
        require(System.nanoTime() - untilNs < 0, e.toString());
      }
    }
  }

  private void unlimited() {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      for (int i = 0; i < 300; i++) {
        put(client, i);
      }
      require(Arrays.equals(client.get(key(0)), VALUE), "get");
    }
  }

  /**
   * A disk smaller than the capacity: overwriting goes on without end, and deletes make room again,
   * even when another program took every byte that was left, and after a restart.
   */
  private void cleaned() throws Exception {
    ServerOptions options = OPTIONS.withHeads(2).withCleaning(true);
    try (ErdaServer server = ErdaServer.start(data, options);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      for (int i = 0; i < 6000; i++) {
        put(client, i % 300);
      }
      require(client.stats().get("cleaner.cleanings") > 20, client.stats().toString());
      fillUp();
      for (int round = 0; round < 3; round++) {
        fillAndDelete(client);
      }
      putUntilFull(client);
    }
    try (ErdaServer server = ErdaServer.start(data, options);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      System.out.println("restarted");
      // Overwriting would not fill it, because the space is cleaned. New keys do.
      fillAndDelete(client);
    }
  }

  /** A region fits, and the second one that a cleaning needs does not. */
  private void created() throws Exception {
    try {
      ErdaServer.start(data, OPTIONS.withRegionBytes(8 << 20)).close();
      throw new AssertionError("there is room for one region alone");
    } catch (Full e) {
      require(e.what() == Full.What.DISK, e.toString());
      System.out.println("refused: " + e.getMessage());
    }
    require(Files.notExists(data), "something was made");
    ErdaServer.start(data, OPTIONS.withRegionBytes(4 << 20)).close();
    fillUp();
    ErdaServer.start(data, OPTIONS.withRegionBytes(4 << 20)).close();
  }

  /** One large region, and no room for a second until other files are removed. */
  private void blocked() throws Exception {
    ServerOptions options = OPTIONS.withCleaning(true).withRegionBytes(4 << 20);
    try (ErdaServer server = ErdaServer.start(data, options);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      long usable = Files.getFileStore(directory).getUsableSpace();
      Path room = Files.write(directory.resolve("room"), new byte[(int) usable - (6 << 20)]);
      putUntilFull(client);
      for (int i = 0; i < keys; i++) {
        if (i % 20 != 0) {
          client.delete(key(i));
        }
      }
      Map<String, Long> figures = clean(client);
      require(figures.get("cleaner.cleanings") == 0, figures.toString());
      require(figures.get("cleaner.blocked") == 1, figures.toString());
      Files.delete(room);
      long untilNs = System.nanoTime() + PATIENCE_NS;
      while (figures.get("cleaner.cleanings") == 0) {
        require(System.nanoTime() - untilNs < 0, figures.toString());
        figures = clean(client);
      }
      require(figures.get("cleaner.blocked") == 0, figures.toString());
      put(client, keys);
    }
  }

  private static Map<String, Long> clean(ErdaClient client) throws InterruptedException {
    Map<String, Long> figures = client.clean(-1);
    while (figures.get("cleaner.asked") != 0) {
      Thread.sleep(1);
      figures = client.stats();
    }
    return figures;
  }

  /** Leaves live objects in every region, so that only copying makes room. */
  private void fillAndDelete(ErdaClient client) {
    putUntilFull(client);
    require(keys > 300, "full after " + keys);
    for (int i = 0; i < keys; i++) {
      if (i % 4 != 0) {
        client.delete(key(i));
      }
    }
    for (int i = 1; i < keys; i += 4) {
      put(client, i);
    }
    for (int i = 0; i < keys; i++) {
      require((client.get(key(i)) != null) == (i % 4 <= 1), "get " + i);
    }
  }

  /**
   * Files that a stopped client still maps take no disk space after the server's wait for that
   * client; during the wait the figures name the client.
   */
  private void stoppedClient() throws Exception {
    int capacity = 6 << 20;
    ServerOptions options = OPTIONS.withCapacityBytes(capacity).withCleaning(true);
    try (ErdaServer server = ErdaServer.start(data, options);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      for (int i = 0; i < 300; i++) {
        put(client, i);
      }
      Process stopped = anotherProcess("reader");
      try {
        BufferedReader out =
            new BufferedReader(new InputStreamReader(stopped.getInputStream(), UTF_8));
        require("reads".equals(out.readLine()), "the other process reads");
        signal("-STOP", stopped);
        // Only the regions that it knew wait for it, and no more than two at a time.
        boolean named = false;
        for (int i = 0; i < 3000; i++) {
          put(client, i % 300);
          Map<String, Long> figures = client.stats();
          named |=
              figures.get("cleaner.regions.leaving") > 0
                  && figures.entrySet().stream()
                      .anyMatch(each ->
                          each.getKey().startsWith("leaving.") && each.getValue() == stopped.pid());
        }
        require(named, "the stopped client is named");
        while (client.stats().get("cleaner.regions.leaving") > 0) {
          Thread.sleep(10);
        }
        require(client.stats().get("cleaner.leaving.late") > 0, client.stats().toString());
        // A low-priority thread gives it back.
        long untilNs = System.nanoTime() + PATIENCE_NS;
        for (long held = held(); held >= 64 << 10; held = held()) {
          boolean late = System.nanoTime() - untilNs >= 0;
          require(!late, held + " bytes are held by what has no name any more");
          Thread.sleep(10);
        }
        // It notices only that it was stopped for more than a second.
        Thread.sleep(1500);
        signal("-CONT", stopped);
        require("reads".equals(out.readLine()), "and goes on");
      } finally {
        stopped.destroyForcibly().waitFor();
      }
    }
  }

  /** Returns the used bytes of the file system that belong to no file with a name. */
  private long held() throws IOException {
    FileStore disk = Files.getFileStore(directory);
    long shown = 0;
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        shown += (size(file) + 4095) & -4096L;
      }
    }
    return disk.getTotalSpace() - disk.getUnallocatedSpace() - shown;
  }

  /** Files come and go while they are looked at. */
  private static long size(Path file) throws IOException {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      return 0;
    }
  }

  /** Reads every key again and again. Prints a line before it is stopped, and after it goes on. */
  private void reader() throws Exception {
    try (ErdaClient client = ErdaClient.connect("erda+shm:" + data)) {
      readAll(client);
      System.out.println("reads");
      long beforeNs = System.nanoTime();
      for (long nowNs = beforeNs; nowNs - beforeNs < 1_000_000_000L; nowNs = System.nanoTime()) {
        beforeNs = nowNs;
        readAll(client);
      }
      readAll(client);
      System.out.println("reads");
    }
  }

  private static void readAll(ErdaClient client) {
    for (int i = 0; i < 300; i++) {
      require(Arrays.equals(client.get(key(i)), VALUE), "get");
    }
  }

  /**
   * A client is stopped in the middle of a WRITE. Then its region is cleaned, the file's space is
   * given back, and the disk is filled, so that the client's next store finds no page.
   */
  private void stoppedWriter() throws Exception {
    ServerOptions options =
        OPTIONS
            .withRegionBytes(8 << 20)
            .withSegmentBytes(2 << 20)
            .withCapacityBytes(128 << 20)
            .withCleaning(true);
    // Room for two regions at the end, also if the store has taken the rest of the disk before.
    Files.write(ballast, new byte[16 << 20]);
    try (ErdaServer server = ErdaServer.start(data, options);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      Process writer = anotherProcess("writer");
      try {
        cleanAround(client, stopInAWrite(writer));
        fillUp();
        putUntilFull(client);
        // Cleaning for these puts gave space back.
        fillUp();
        signal("-CONT", writer);
        BufferedReader out =
            new BufferedReader(new InputStreamReader(writer.getInputStream(), UTF_8));
        String said = out.readLine();
        System.out.println("the writer: " + said);
        require(
            said != null && said.matches("refused, written again [1-9]\\d* times, DISK: .*"), said);
        Files.delete(ballast);
        require("goes on".equals(out.readLine()), "the writer goes on");
        require(writer.waitFor() == 0, "and ends well");
      } finally {
        writer.destroyForcibly().waitFor();
      }
    }
  }

  /**
   * Returns the file that the newest object is half written to. The writer stops itself somewhere
   * in a put, as often as it is asked to: a stop that meets no WRITE is followed by another one.
   */
  private Path stopInAWrite(Process writer) throws Exception {
    OutputStream toWriter = writer.getOutputStream();
    for (int stops = 1; ; stops++) {
      toWriter.write('\n');
      toWriter.flush();
      while (!isStopped(writer)) {
        require(writer.isAlive(), "the writer has ended");
        Thread.sleep(1);
      }
      Path half = halfWritten();
      if (half != null) {
        System.out.println("stopped in a WRITE to " + half.getFileName() + ", stop " + stops);
        return half;
      }
      signal("-CONT", writer);
    }
  }

  /** Whether all threads of a process are stopped: they stop one after the other. */
  private static boolean isStopped(Process process) throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
      for (Path thread : threads.toList()) {
        String stat = Files.readString(thread.resolve("stat"), ISO_8859_1);
        if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
          return false;
        }
      }
      return true;
    } catch (NoSuchFileException e) {
      // The thread has ended in the meantime.
      return false;
    }
  }

  /** Null when the writer's newest object is whole, or there is none. */
  private Path halfWritten() throws IOException {
    long newest = 0;
    int count = 0;
    Path in = null;
    try (Stream<Path> files = Files.list(data)) {
      for (Path file :
          files.filter(each -> each.getFileName().toString().startsWith("region-")).toList()) {
        // No mapping is left: it would hold the space of a file that is removed.
        try (Arena arena = Arena.ofConfined();
            FileChannel channel = FileChannel.open(file)) {
          LongBuffer words =
              channel
                  .map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena)
                  .asByteBuffer()
                  .order(ByteOrder.nativeOrder())
                  .asLongBuffer();
          while (words.hasRemaining()) {
            long word = words.get();
            if (word >> 32 == WRITER_MARK && word >= newest) {
              count = word == newest ? count + 1 : 1;
              newest = word;
              in = file;
            }
          }
        } catch (NoSuchFileException e) {
          // The server has removed the file in the meantime.
        }
      }
    }
    // Several pages are still to come; and every key has a value already.
    return count < WRITER_WORDS - 4096 && (int) newest > 4 ? in : null;
  }

  /** Returns when the file is gone and holds no space any more. */
  private void cleanAround(ErdaClient client, Path region) throws Exception {
    long untilNs = System.nanoTime() + PATIENCE_NS;
    long late = client.stats().get("cleaner.leaving.late");
    while (Files.exists(region)) {
      // A region that its head appends to, and that has room, may not be cleaned.
      client.put(key(-1), new byte[1 << 20]);
      client.clean(-1);
      require(System.nanoTime() - untilNs < 0, "cleaned: " + client.stats());
      Thread.sleep(10);
    }
    while (client.stats().get("cleaner.leaving.late") == late || held() >= 64 << 10) {
      require(System.nanoTime() - untilNs < 0, held() + " bytes are held, " + client.stats());
      Thread.sleep(10);
    }
  }

  /** Puts large values until one is refused; then until there is room, and some more. */
  private void writer() throws Exception {
    // It may be stopped for as long as the server takes to clean around it.
    ClientOptions patient = ClientOptions.DEFAULT.withOperationTimeout(Duration.ofMinutes(10));
    SelfStopper stopper = new SelfStopper();
    try (ErdaClient client = ErdaClient.connect(ErdaUri.parse("erda+shm:" + data), patient)) {
      int put = 0;
      long rewritesBefore = 0;
      try {
        while (true) {
          rewritesBefore = client.statistics().rewrites();
          byte[] value = large(++put);
          stopper.begins();
          client.put(largeKey(put), value);
          stopper.ended();
        }
      } catch (Full e) {
        long rewrites = client.statistics().rewrites() - rewritesBefore;
        System.out.println(
            "refused, written again %d times, %s: %s"
                .formatted(rewrites, e.what(), e.getMessage()));
      }
      // The put that was refused has left no trace.
      require(Arrays.equals(client.get(largeKey(put)), large(put - 4)), "the value before");
      int last = put + 20;
      long untilNs = System.nanoTime() + PATIENCE_NS;
      while (put < last) {
        try {
          putLarge(client, put + 1);
          put++;
          require(Arrays.equals(client.get(largeKey(put)), large(put)), "get " + put);
        } catch (Full e) {
          require(System.nanoTime() - untilNs < 0, e.toString());
        }
      }
      System.out.println("goes on");
    }
  }

  /**
   * Stops this process somewhere in a put of another thread, once for each line of standard input.
   * A stop that comes from outside meets no WRITE for minutes where the processors are busy.
   */
  private static final class SelfStopper {
    private static final int SIGSTOP = 19;

    private final MethodHandle kill;
    private final Thread thread = new Thread(this::run, "stopper");
    private volatile boolean wanted;
    private long begunNs;
    private volatile long putNs = 1_000_000;

    SelfStopper() {
      Linker linker = Linker.nativeLinker();
      kill =
          linker.downcallHandle(
              linker.defaultLookup().find("kill").orElseThrow(),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
      thread.setDaemon(true);
      thread.start();
    }

    /** A put begins. */
    void begins() {
      begunNs = System.nanoTime();
      if (wanted) {
        wanted = false;
        LockSupport.unpark(thread);
      }
    }

    /** It has ended; how long it took says when the next one may be stopped. */
    void ended() {
      putNs = Math.min(10_000_000, System.nanoTime() - begunNs);
    }

    private void run() {
      int self = (int) ProcessHandle.current().pid();
      try {
        while (System.in.read() >= 0) {
          wanted = true;
          while (wanted) {
            LockSupport.park(this);
          }
          LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(putNs));
          require((int) kill.invokeExact(self, SIGSTOP) == 0, "kill");
        }
      } catch (Throwable e) {
        e.printStackTrace();
      }
    }
  }

  private static void putLarge(ErdaClient client, int put) {
    client.put(largeKey(put), large(put));
  }

  /** With a key of 6 bytes the value begins at a word of the region. */
  private static byte[] largeKey(int put) {
    return ("large" + put % 4).getBytes(UTF_8);
  }

  private static byte[] large(int put) {
    ByteBuffer value = ByteBuffer.allocate(WRITER_WORDS * Long.BYTES);
    value.order(ByteOrder.nativeOrder());
    while (value.hasRemaining()) {
      value.putLong((long) WRITER_MARK << 32 | put);
    }
    return value.array();
  }

  private Process anotherProcess(String scenario) throws IOException {
    ProcessHandle.Info self = ProcessHandle.current().info();
    List<String> command = new ArrayList<>(List.of(self.command().orElseThrow()));
    List<String> arguments = Arrays.asList(self.arguments().orElseThrow());
    command.addAll(arguments.subList(0, arguments.size() - 2));
    command.addAll(List.of(scenario, directory.toString()));
    return new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
  }

  private static void signal(String signal, Process process) throws Exception {
    String pid = Long.toString(process.pid());
    require(new ProcessBuilder("kill", signal, pid).start().waitFor() == 0, signal);
  }

  /** Servers start while a client of the one before lives on; each needs space in its own way. */
  private void restarts() throws Exception {
    ErdaServer server = ErdaServer.start(data, OPTIONS);
    fillUp();
    try (ErdaClient before = ErdaClient.connect(server.uri())) {
      for (int i = 0; i < 4; i++) {
        require(before.get(key(1)) != null, "read before restart " + i);
        server.close();
        require(before.get(key(1)) != null, "read while there is no server");
        server = ErdaServer.start(data, OPTIONS);
        requireFull(before);
        everyRequestOfANewClient(server);
        oneAfterTheOther(server);
      }
    } finally {
      server.close();
    }
    System.out.println("restarted");
  }

  private void putUntilFull(ErdaClient client) {
    while (true) {
      try {
        put(client, keys);
        keys++;
      } catch (Full e) {
        require(e.what() == Full.What.DISK, e.toString());
        require(!e.getMessage().contains("\n"), e.toString());
        System.out.println("full after " + keys + " puts: " + e.getMessage());
        return;
      }
    }
  }

  private void fillUp() throws IOException {
    try (OutputStream out =
        Files.newOutputStream(ballast, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      while (true) {
        out.write(new byte[4096]);
      }
    } catch (FileSystemException e) {
      throw e;
    } catch (IOException e) {
      System.out.println(
          "filled up: " + Files.getFileStore(directory).getUsableSpace() + " bytes are left");
    }
  }

  private void requireFull(ErdaClient client) {
    // The rest of the log's room is filled, too: small objects fit where large ones do not.
    for (int i = 0; i < 10_000; i++) {
      try {
        client.put(("filler" + i % 100).getBytes(UTF_8), Arrays.copyOf(VALUE, 1000));
      } catch (Full e) {
        require(e.what() == Full.What.DISK, e.toString());
        return;
      }
    }
    throw new AssertionError("never full");
  }

  private void everyRequestOfANewClient(ErdaServer server) {
    everyRequestOfANewClient(ErdaClient.connect(server.uri()));
  }

  private void everyRequestOfANewClient(ErdaClient fresh) {
    try (ErdaClient client = fresh) {
      require(Arrays.equals(client.get(key(1)), VALUE), "get");
      require(client.get(key(keys + 1_000_000)) == null, "get of what is absent");
      int deleted = --keys;
      require(client.delete(key(deleted)), "delete");
      require(!client.delete(key(deleted)), "delete again");
      require(client.get(key(deleted)) == null, "get of what was deleted");
      require(client.stats().get("connections") > 0, "stats");
      requireFull(client);
    }
  }

  private void asManyClientsAsAreExpected(ErdaServer server) throws Exception {
    List<ErdaClient> clients = new ArrayList<>();
    try {
      // The server takes back what the client before left, in its own time.
      while (spares() < CLIENTS_AT_A_TIME) {
        Thread.sleep(1);
      }
      for (int i = 0; i < CLIENTS_AT_A_TIME; i++) {
        ErdaClient client = ErdaClient.connect(server.uri());
        clients.add(client);
        require(client.get(key(i)) != null, "client " + i);
      }
      // It finds no room for a connection, and reads the files itself.
      try (ErdaClient oneTooMany = ErdaClient.connect(server.uri())) {
        require(oneTooMany.get(key(0)) != null, "get without a connection");
        oneTooMany.delete(key(0));
        throw new AssertionError("a delete without a connection");
      } catch (Full e) {
        require(e.what() == Full.What.DISK && !e.getMessage().contains("\n"), e.toString());
        System.out.println("one too many: " + e.getMessage());
      }
    } finally {
      clients.forEach(ErdaClient::close);
    }
  }

  /** An empty one is an attempt to make another, which ends for want of space. */
  private long spares() throws IOException {
    try (Stream<Path> files = Files.list(data.resolve("shm"))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("spare-"))
          .filter(file -> file.toFile().length() > 0)
          .count();
    }
  }

  private void oneAfterTheOther(ErdaServer server) {
    for (int i = 0; i < 3 * CLIENTS_AT_A_TIME; i++) {
      try (ErdaClient client = connect(server)) {
        require(client.get(key(i % 10)) != null, "client " + i);
      }
    }
  }

  /** The server finds what clients before left once in a second. */
  private static ErdaClient connect(ErdaServer server) {
    long untilNs = System.nanoTime() + PATIENCE_NS;
    while (true) {
      try {
        return ErdaClient.connect(server.uri());
      } catch (Full e) {
        require(System.nanoTime() - untilNs < 0, e.toString());
      }
    }
  }

  /** Its process may make no file as large as a region. */
  private void limitedServer() throws IOException {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      putUntilFull(client);
      require(keys == 0, "no region can be made, put " + keys);
      require(client.get(key(1)) == null, "get");
      require(!client.delete(key(1)), "delete");
    }
  }

  /** Its process may make no file as large as a queue file; the server is another one. */
  private void limitedClient() {
    try (ErdaClient client = ErdaClient.connect("erda+shm:" + data)) {
      put(client, 5);
      require(Arrays.equals(client.get(key(5)), VALUE), "get");
      require(client.delete(key(5)), "delete");
    }
  }

  private static void put(ErdaClient client, int key) {
    client.put(key(key), VALUE);
  }

  private static byte[] key(int key) {
    return ("key" + key).getBytes(UTF_8);
  }

  private static void require(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }

  /** For {@link FullDiskTest}, which serves a limited client. */
  static ErdaServer serve(Path directory) throws ErdaException {
    return ErdaServer.start(directory.resolve("data"), OPTIONS);
  }
}
