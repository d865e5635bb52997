package io.erda.eval.paper;

import io.erda.eval.Experiment.Context;
import io.erda.eval.baselines.Counting;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.Transport;
import java.util.List;
import java.util.Optional;

/** Where stores are that are compared, and by what their client reaches them. */
interface Deployment {
  /** In the process of their client. */
  static Deployment embedded() {
    return new Embedded();
  }

  /** Each in a process of its own. */
  static Deployment served(Transport transport) {
    return new Served(transport);
  }

  /** What a program calls the device. */
  String device();

  /** What people call it, behind “Erda beside Redo Logging and Read After Write”. */
  String where();

  /** Why this machine can't have it; empty when it can. */
  Optional<String> missing();

  /** How many times fewer operations than over shared memory take as long. */
  int slowness();

  /** A store of each scheme, in their order, loaded. */
  List<? extends ComparedStore> openAll(Context context, Dataset dataset);

  /** Whether servers are other processes. Of those something is expected. */
  boolean hasServers();

  /** What a reader has to know besides; may be empty. */
  String words();

  /** Whether it is this transport that they are served over. */
  default boolean isOver(Transport transport) {
    return device().equals(transport.toString());
  }

  /** Stores in processes of their own. */
  record Served(Transport transport) implements Deployment {
    @Override
    public String device() {
      return transport.toString();
    }

    @Override
    public String where() {
      return switch (transport) {
        case SHM -> "over shared memory";
        case TCP -> "over TCP on loopback";
        case RDMA -> "over verbs, at this machine's own RDMA device";
      };
    }

    @Override
    public Optional<String> missing() {
      return transport.missing();
    }

    @Override
    public int slowness() {
      return transport == Transport.SHM ? 1 : 10;
    }

    @Override
    public List<ServedScheme> openAll(Context context, Dataset dataset) {
      return ServedScheme.startAll(context, dataset, transport, 0, Counting.NOTHING);
    }

    @Override
    public boolean hasServers() {
      return true;
    }

    @Override
    public String words() {
      return "";
    }
  }

  /** Stores in this process. */
  record Embedded() implements Deployment {
    @Override
    public String device() {
      return "embedded";
    }

    @Override
    public String where() {
      return "over the embedded device, in one process with their client, who takes the server's"
          + " steps";
    }

    @Override
    public Optional<String> missing() {
      return Optional.empty();
    }

    @Override
    public int slowness() {
      return 1;
    }

    @Override
    public List<EmbeddedScheme> openAll(Context context, Dataset dataset) {
      return EmbeddedScheme.openAll(context, dataset);
    }

    @Override
    public boolean hasServers() {
      return false;
    }

    @Override
    public String words() {
      return " Erda's own puts and its gets need no message here. The others send theirs to a"
          + " server whose steps their own thread takes; Erda cleans in a thread of its own.";
    }
  }
}
