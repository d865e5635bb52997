package io.erda.eval.process;

import java.util.ArrayList;
import java.util.List;

/**
 * Keeps every core awake: a process for each loops in the scheduler's idle class, where it yields
 * to any other at once. For comparisons with peers that wait in the kernel, whose round trip is
 * mostly the wake-up of a sleeping core. Closing ends the processes.
 */
public final class AwakeCores implements AutoCloseable {
  private static final String LOOP = "while :; do :; done";

  private final Children children;
  private final List<Child> loops = new ArrayList<>();

  private AwakeCores(Children children) {
    this.children = children;
  }

  /**
   * Starts a loop for each core.
   *
   * @throws ProcessException when a process can't be started
   */
  public static AwakeCores start(Children children) {
    AwakeCores awake = new AwakeCores(children);
    for (int core = 0; core < Runtime.getRuntime().availableProcessors(); core++) {
      awake.loops.add(
          children.start(
              "a loop of idle priority", List.of("chrt", "--idle", "0", "sh", "-c", LOOP)));
    }
    return awake;
  }

  @Override
  public void close() {
    for (Child loop : loops) {
      loop.kill();
      children.forget(loop);
    }
  }
}
