package io.erda.launcher.commands;

import io.erda.console.ByteSize;
import io.erda.console.OneLine;
import io.erda.console.UserError;
import io.erda.launcher.posix.EndingSignals;
import io.erda.launcher.watch.FiguresBean;
import io.erda.launcher.watch.MetricsEndpoint;
import io.erda.launcher.watch.ServiceManager;
import io.erda.launcher.watch.ServiceNotices;
import io.erda.launcher.watch.StandardErrorLog;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import io.erda.server.Committers;
import io.erda.server.ErdaServer;
import io.erda.server.Listening;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import javax.management.JMException;
import javax.management.ObjectName;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda server}: serves a data directory until it is ended. */
@Command(
    name = "server",
    description =
        "Serve a store to the processes of this host, and over TCP and RDMA to others. SIGTERM and"
            + " Ctrl-C end it cleanly.",
    footer = {
      "",
      "Sizes take K, M, G. A store keeps what it was created with: other values of the options of"
          + " creation are refused, and a number of buckets that it does not have is told.",
      "",
      "  ./erda server --data /var/lib/erda"
    })
public final class ServerCommand implements Callable<Integer> {
  private static final Duration METRICS_WAIT_MAX = Duration.ofSeconds(3);

  /** Each client of this host maps a file, and by default the kernel allows no more mappings. */
  private static final int CONNECTIONS_MAX = 65_536;

  @Spec private CommandSpec spec;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "The store's directory; created when absent.")
  private Path data;

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description =
          "Serve over TCP too, at erda://HOST:PORT; port 0 takes a free one. Other addresses than"
              + " loopback need --secret-file.")
  private String listen;

  @Option(
      names = "--secret-file",
      paramLabel = "FILE",
      description =
          "TCP: clients must prove that they have the same secret,"
              + " erda://HOST:PORT?secret-file=FILE. At least 16 bytes, in a file that its owner"
              + " alone may use.")
  private Path secretFile;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description =
          "TCP: encrypt with TLS 1.3, with this certificate and those that signed it (PEM). Clients"
              + " name what they trust, erda://HOST:PORT?tls-ca=FILE.")
  private Path tlsCertificate;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "TCP: the certificate's private key (PKCS#8, PEM).")
  private Path tlsKey;

  @Option(
      names = "--metrics",
      paramLabel = "HOST:PORT",
      description =
          "Answer http://HOST:PORT/metrics with the figures of stats, as text that Prometheus"
              + " reads, OpenMetrics where that is asked for; without HOST on loopback. Whoever"
              + " reaches it may read them.")
  private String metrics;

  @Option(
      names = "--rdma",
      paramLabel = "HOST:PORT",
      description =
          "Serve over RDMA too, at erda+rdma://HOST:PORT; HOST is an address of the RDMA device's."
              + " Whoever can connect there can use the store.")
  private String rdma;

  @Option(
      names = "--rdma-device",
      paramLabel = "NAME",
      description =
          "RDMA: the device, as the kernel calls it; by default the first one that has an address"
              + " here.")
  private String rdmaDevice;

  @Option(
      names = "--heads",
      paramLabel = "N",
      description =
          "Creation: heads of the log, 1 to 256; as many as the capacity needs by default. The"
              + " capacity must hold one region more than heads.")
  private Integer heads;

  @Option(
      names = "--region-bytes",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      description =
          "Creation: bytes of a region, a power of two, 64K to 1G; 64M by default, less where the"
              + " capacity does not hold 16 of them, or one more than there are heads, more where"
              + " it holds more than 256.")
  private Long regionBytes;

  @Option(
      names = "--segment-bytes",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      description =
          "Creation: bytes of a segment, a power of two, 4K to 16M: no object is longer; 8M by"
              + " default, or a region where that is smaller.")
  private Long segmentBytes;

  @Option(
      names = "--capacity",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      description =
          "Bytes that the log may grow to; 16G by default, or what the store was allowed before."
              + " It takes disk space as it grows. A store is allowed more as far as its heads"
              + " reach, 16G each, and less as far as its files take no more.")
  private Long capacity;

  @Option(
      names = "--buckets",
      paramLabel = "N",
      description =
          "Creation: buckets of the hash table to begin with, a power of two from 2; 262144 by"
              + " default. It doubles by itself when half of them are taken.")
  private Long buckets;

  @Option(
      names = "--buckets-max",
      paramLabel = "N",
      description =
          "Don't double the hash table beyond so many buckets; no limit by default. A table that"
              + " has more keeps them.")
  private Long bucketsMax;

  @Option(
      names = "--live-percent",
      paramLabel = "N",
      description =
          "How much of the log's files should live, 1 to 90 percent, apart from one region for each"
              + " head; 50 by default. The log is cleaned until it does: more takes less space and"
              + " more copying. 0: it may fill its capacity first.")
  private Integer livePercent;

  @Option(
      names = "--promise",
      paramLabel = "PROMISE",
      converter = PromiseChoice.class,
      completionCandidates = PromiseChoice.class,
      description =
          "What an acknowledgement must mean: process (survives a kill of any process) or power"
              + " (survives power failure; on ordinary files every put then waits for the device)."
              + " The store remembers power: later starts keep it until one says process, which"
              + " gives it up for earlier puts too. Without the option: what the store promised"
              + " before; a new one, the strongest that costs no waiting.")
  private Promise promise;

  @Option(
      names = "--put",
      paramLabel = "MODE",
      description =
          "How puts of a new store are done: publish (write, then publish: one round trip) or"
              + " announce (the put of the Erda paper: announce, then write; two round trips, and"
              + " the store promises that values are never torn, and nothing more); publish by"
              + " default. A store keeps it; another one than its own is refused.")
  private PutMode putMode;

  @Option(
      names = "--commits",
      paramLabel = "WHO",
      description =
          "Who commits updates and deletes of keys that have a value: none (the server does), or"
              + " own (clients over shared memory whose processes belong to the server's user do so"
              + " by themselves; where puts survive a kill, not where they survive power failure);"
              + " none by default.")
  private Committers commits;

  @Option(
      names = "--polling-ns",
      paramLabel = "NS",
      description = "How long the server polls at most before it sleeps; 50000 by default.")
  private Integer pollingNs;

  @Option(
      names = "--connections",
      paramLabel = "N",
      description = "The most clients at a time, 1 to " + CONNECTIONS_MAX + "; 1024 by default.")
  private Integer connections;

  @Mixin private QuotaOptions quotas;

  @Option(
      names = "--mode",
      paramLabel = "OCTAL",
      description =
          "Who may use the store: 700 its owner alone, 770 its group too, 777 everybody. With"
              + " 750 the group, with 755 everybody may read it (erda+shm:DIR?read-only), and the"
              + " owner alone do more. As it was said before by default, and 700 where it never"
              + " was.")
  private String mode;

  @Option(
      names = "--group",
      paramLabel = "NAME",
      description = "The group that the store is given to, with --mode 770 or 750.")
  private String group;

  @Mixin private ProcessOptions process;

  @Option(
      names = "--counted",
      description = "Count bytes whose value changed (./erda stats); slows stores down.")
  private boolean counted;

  @Option(
      names = "--timed",
      description =
          "Tell how long the steps took that had something to do (server.work.ns of stats).")
  private boolean timed;

  @Option(
      names = "--write-latency-ns",
      paramLabel = "NS",
      description = "Make each persistent write this much slower, to model slower memory.")
  private Integer writeLatencyNs;

  @Option(
      names = "--child",
      hidden = true,
      description = "Say when opening begins, and end with standard input.")
  private boolean child;

  @Option(names = "--jmx", description = "Show the figures of stats as a JMX bean, too.")
  private boolean jmx;

  @Option(names = "--debug", description = "Log who connects and who leaves, too.")
  private boolean debug;

  private System.Logger log;

  @Override
  public Integer call() throws InterruptedException {
    if (rdma == null && rdmaDevice != null) {
      throw new UserError("--rdma-device goes with --rdma", 2);
    }
    if (listen == null && (secretFile != null || tlsCertificate != null || tlsKey != null)) {
      throw new UserError("--secret-file, --tls-cert and --tls-key go with --listen", 2);
    }
    if (group != null && mode == null) {
      throw new UserError("--group goes with --mode 770 or 750", 2);
    }
    process.check();
    PrintWriter out = spec.commandLine().getOut();
    log = StandardErrorLog.start(spec.commandLine().getErr(), debug);
    ServiceNotices notices = new ServiceNotices(ServiceManager.ofEnvironment(), log);
    ServerEnd end = new ServerEnd(notices, spec.commandLine().getErr());
    // Comes first, so that a signal during the start also ends the server cleanly.
    end.onSignal();
    ErdaServer server =
        end.starting(() -> {
          EndingSignals.tell(
              name -> log.log(System.Logger.Level.INFO, "is told to end by " + name));
          return start(end, out);
        });
    String uris = String.join(" and ", server.uris());
    String promise = server.promise().name().toLowerCase(Locale.ROOT);
    out.println(OneLine.of("serving %s at %s (promise: %s)".formatted(data, uris, promise)));
    out.flush();
    notices.ready("serves " + data);
    server.onReadOnly(reason -> notices.status("the store is read-only: " + reason));
    Throwable failure = server.await();
    if (failure != null && end.isToBeTold()) {
      throw new UserError(ServerEnd.failed(failure), 1, failure);
    }
    return failure == null ? 0 : 1;
  }

  /** Starts the server; the caller ends it. */
  private ErdaServer start(ServerEnd end, PrintWriter out) {
    process.apply();
    StoreOwner.require(data, process.user());
    if (child) {
      out.println("opening " + OneLine.of(data.toString()));
      out.flush();
      end.withStandardInput();
    }
    ServerOptions options = options();
    // Before the store is opened, because an address that can't be taken must prevent the start.
    MetricsEndpoint endpoint = metrics == null ? null : takeMetricsAddress(metrics);
    ErdaServer server = start(options.withLog(log), endpoint);
    if (jmx) {
      registerBean(server);
    }
    return server;
  }

  private void registerBean(ErdaServer server) {
    try {
      String name =
          "io.erda:type=Server,data=" + ObjectName.quote(data.toAbsolutePath().toString());
      ManagementFactory.getPlatformMBeanServer()
          .registerMBean(
              new FiguresBean(() -> server.figures(METRICS_WAIT_MAX)), new ObjectName(name));
    } catch (JMException e) {
      server.close();
      throw new UserError("can't register the JMX bean: " + e.getMessage(), 1, e);
    }
  }

  private static MetricsEndpoint takeMetricsAddress(String text) {
    try {
      return MetricsEndpoint.bind(MetricsEndpoint.address(text));
    } catch (IllegalArgumentException e) {
      throw new UserError("--metrics: " + e.getMessage(), 2);
    } catch (IOException e) {
      throw new UserError("can't serve metrics at " + text + ": " + e.getMessage(), 1, e);
    }
  }

  /** Starts the server. The endpoint, if any, ends with the process: its threads are daemons. */
  private ErdaServer start(ServerOptions options, MetricsEndpoint endpoint) {
    ErdaServer server;
    try {
      server =
          process.user() == null
              ? ErdaServer.start(data, options)
              : ErdaServer.start(data, options, () -> process.becomeUser(data));
    } catch (RuntimeException | Error e) {
      if (endpoint != null) {
        endpoint.close();
      }
      throw e;
    }
    if (endpoint != null) {
      endpoint.serve(
          () -> server.figures(METRICS_WAIT_MAX), error -> server.fail("erda-metrics", error));
      log.log(System.Logger.Level.INFO, "metrics are at " + endpoint.url());
    }
    return server;
  }

  private ServerOptions options() {
    ServerOptions options =
        ServerOptions.DEFAULTS
            .withCounted(counted)
            .withTimed(timed)
            .withPromise(promise)
            .withPutMode(putMode)
            .withGroup(group)
            .withQuotas(quotas.quotas());
    options = commits == null ? options : options.withCommits(commits);
    options = mode == null ? options : withMode(options, mode);
    options = heads == null ? options : options.withHeads(atLeastOne("--heads", heads));
    options = regionBytes == null ? options : options.withRegionBytes(regionBytes);
    options =
        segmentBytes == null
            ? options
            : options.withSegmentBytes(toInt("--segment-bytes", segmentBytes));
    options =
        capacity == null ? options : options.withCapacityBytes(positive("--capacity", capacity));
    options = buckets == null ? options : options.withBuckets(positive("--buckets", buckets));
    options =
        bucketsMax == null
            ? options
            : options.withBucketsMax(positive("--buckets-max", bucketsMax));
    options =
        pollingNs == null ? options : options.withPollingNs(notNegative("--polling-ns", pollingNs));
    options =
        connections == null
            ? options
            : options.withConnectionsMax(
                atMost("--connections", CONNECTIONS_MAX, atLeastOne("--connections", connections)));
    if (livePercent != null) {
      options = withLivePercent(options, livePercent);
    }
    options = options.withListening(listening());
    return writeLatencyNs == null
        ? options
        : options.withWriteLatencyNs(notNegative("--write-latency-ns", writeLatencyNs));
  }

  private List<Listening> listening() {
    List<Listening> all = new ArrayList<>();
    if (listen != null) {
      all.add(new Listening("erda", ListenAddress.of("--listen", listen), parameters()));
    }
    if (rdma != null) {
      Map<String, String> device = rdmaDevice == null ? Map.of() : Map.of("device", rdmaDevice);
      all.add(new Listening("erda+rdma", rdma, device));
    }
    return all;
  }

  private Map<String, String> parameters() {
    Map<String, String> files = new HashMap<>();
    put(files, "secret-file", secretFile);
    put(files, "tls-cert", tlsCertificate);
    put(files, "tls-key", tlsKey);
    return files;
  }

  private static void put(Map<String, String> files, String name, Path file) {
    if (file != null) {
      files.put(name, file.toString());
    }
  }

  private static ServerOptions withMode(ServerOptions options, String octal) {
    try {
      return options.withMode(Integer.parseInt(octal, 8));
    } catch (NumberFormatException e) {
      throw new UserError("--mode is 700, 770, 777, 750 or 755: " + octal, 2);
    } catch (IllegalArgumentException e) {
      throw new UserError("--" + e.getMessage(), 2);
    }
  }

  private static ServerOptions withLivePercent(ServerOptions options, int value) {
    try {
      return options.withLivePercent(value);
    } catch (IllegalArgumentException e) {
      throw new UserError("--live-percent: " + e.getMessage(), 2);
    }
  }

  private static int toInt(String flag, long value) {
    if (value != (int) value) {
      throw new UserError(flag + " of " + value + " bytes is too large", 2);
    }
    return (int) value;
  }

  private static int atLeastOne(String flag, int value) {
    if (value < 1) {
      throw new UserError(flag + " must be at least 1: " + value, 2);
    }
    return value;
  }

  static int atMost(String flag, int most, int value) {
    if (value > most) {
      throw new UserError(flag + " must be at most " + most + ": " + value, 2);
    }
    return value;
  }

  private static long positive(String flag, long value) {
    if (value < 1) {
      throw new UserError(flag + " must be at least 1: " + value, 2);
    }
    return value;
  }

  private static int notNegative(String flag, int value) {
    if (value < 0) {
      throw new UserError(flag + " is negative: " + value, 2);
    }
    return value;
  }
}
