package io.erda.eval.baselines;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.process.Jvm;
import io.erda.pmem.CountedDirectory;
import io.erda.pmem.MappedDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.rdma.Device;
import io.erda.rdma.Listener;
import io.erda.rdma.Poller;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;

/**
 * A process that serves a baseline over shared memory or a network, polling as Erda's server does.
 * Owned by the {@link Children} it was started with.
 */
public final class BaselineChild {
  private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(20);
  private static final String SERVING = "serving ";
  private static final String TOLD = "told ";
  private static final String END = "end";
  private static final String SHM = "shm";

  private final Child child;
  private final String address;

  private BaselineChild(Child child, String address) {
    this.child = child;
    this.address = address;
  }

  /**
   * Starts it; it serves when this returns.
   *
   * @param transport of its clients
   * @param objects that the store is to hold, of at most {@code objectBytes} of key and value
   * @param lagBytes as in {@link BaselineServer#open}
   * @param counting whether {@link #nvmBytes} or {@link #workNs} is available
   */
  public static BaselineChild start(
      Children children,
      Jvm jvm,
      BaselineKind kind,
      Path data,
      DeviceChoice transport,
      long objects,
      int objectBytes,
      long lagBytes,
      Counting counting) {
    Child child =
        children.start(
            "the server of " + kind,
            jvm.with(
                    "-XX:+UseSerialGC",
                    "-XX:-UseDynamicNumberOfCompilerThreads",
                    "-XX:-UseDynamicNumberOfGCThreads")
                .command(
                    BaselineChild.class,
                    kind.name(),
                    data.toString(),
                    transport.name(),
                    Long.toString(objects),
                    Integer.toString(objectBytes),
                    Long.toString(lagBytes),
                    counting.name()));
    String address = child.await(SERVING, START_TIMEOUT).substring(SERVING.length());
    return new BaselineChild(child, address);
  }

  /** The address for clients. */
  public String address() {
    return address;
  }

  public long pid() {
    return child.pid();
  }

  public CpuTime cpu() {
    return CpuTime.of(child.pid());
  }

  /** Bytes that it stored in its memory so far, and that clients wrote into it. */
  public long nvmBytes() {
    return told(1);
  }

  /** Nanoseconds of its thread in steps that had something to do. */
  public long workNs() {
    return told(2);
  }

  private long told(int word) {
    child.tell(TOLD);
    return Long.parseLong(child.await(TOLD, ANSWER_TIMEOUT).split(" ", -1)[word]);
  }

  /** Ends it in order. */
  public void stop() {
    child.tell(END);
    child.awaitEnd(ANSWER_TIMEOUT);
  }

  /** The process itself. It ends on command, or with its standard input. */
  public static void main(String[] args) throws IOException {
    BaselineKind kind = BaselineKind.valueOf(args[0]);
    Path data = Path.of(args[1]);
    Files.createDirectories(data);
    BaselineGeometry geometry =
        BaselineGeometry.forObjects(Long.parseLong(args[3]), Integer.parseInt(args[4]));
    Path shm = data.resolve(SHM).toAbsolutePath();
    DeviceChoice transport = DeviceChoice.valueOf(args[2]);
    boolean overShm = transport == DeviceChoice.SHM;
    try (Device device =
            overShm
                ? ShmDevice.open(ShmOptions.toServe(shm, System::nanoTime))
                : transport.openServerDevice();
        MemoryDirectory files = directory(data, Counting.valueOf(args[6]))) {
      if (!files.lock()) {
        throw new IOException(data + " is in use");
      }
      try (BaselineServer server =
          BaselineServer.open(
              kind,
              files,
              geometry,
              Long.parseLong(args[5]),
              System::nanoTime,
              new SplittableRandom())) {
        Listener listener = device.listen(overShm ? shm.toString() : transport.anyPort());
        server.listen(device, listener, false);
        new Serving(server, device, files, Counting.valueOf(args[6])).run(listener.address());
      }
    }
  }

  private static MemoryDirectory directory(Path data, Counting counting) throws IOException {
    MappedDirectory files = MappedDirectory.open(data);
    return counting == Counting.BYTES ? new CountedDirectory(files) : files;
  }

  /** The server's thread, and the commands that it is given. */
  private static final class Serving {
    private final BaselineServer server;
    private final Device device;
    private final MemoryDirectory files;
    private final Poller poller =
        new Poller(System::nanoTime, Poller.DEFAULT_SPIN_NS, Poller.DEFAULT_BUDGET_NS);
    private volatile boolean ending;
    private volatile boolean asked;
    private final boolean timed;
    private long workNs;

    Serving(BaselineServer server, Device device, MemoryDirectory files, Counting counting) {
      timed = counting == Counting.WORK;
      this.server = server;
      this.device = device;
      this.files = files;
    }

    void run(String address) {
      Thread listener = new Thread(this::listen, "listener");
      listener.setDaemon(true);
      listener.start();
      System.out.println(SERVING + address);
      while (!ending) {
        if (asked) {
          asked = false;
          System.out.println(TOLD + bytes() + " " + workNs);
        }
        if (poller.mayPoll(timed ? timedWork() : server.doWork())) {
          continue;
        }
        if (server.arm() && server.doWork() == 0 && device.await(server.sleepNsMax())) {
          poller.woken();
        } else {
          poller.reset();
        }
      }
    }

    private int timedWork() {
      long beganNs = System.nanoTime();
      int work = server.doWork();
      if (work > 0) {
        workNs += System.nanoTime() - beganNs;
      }
      return work;
    }

    private long bytes() {
      long stored =
          files instanceof CountedDirectory counted ? counted.statistics().bytesStored() : 0;
      return stored + device.statistics().bytesWritten();
    }

    private void listen() {
      try (BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
        for (String line = in.readLine(); line != null && !line.equals(END); line = in.readLine()) {
          asked = true;
          device.wakeup();
        }
      } catch (IOException e) {
        // The parent process is gone.
      }
      ending = true;
      device.wakeup();
    }
  }
}
