package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code erda exists}: says whether keys have values. */
@Command(
    name = "exists",
    description = "Say by the exit code whether keys have values; nothing is printed where all do.",
    footer = {
      "",
      "Exit code 3 when a key has none.",
      "",
      "  ./erda exists --uri erda+shm:/var/lib/erda greeting && echo yes"
    })
public final class ExistsCommand implements Callable<Integer> {
  @Mixin private ConnectionOptions connection;
  @Mixin private KeyArguments arguments;

  @Override
  public Integer call() throws IOException {
    List<byte[]> keys = arguments.keys();
    List<byte[]> absent = new ArrayList<>();
    try (ErdaClient client = connection.connect();
        Arena arena = Arena.ofConfined()) {
      // No room for a value, because only its length is needed.
      MemorySegment none = arena.allocate(0);
      for (byte[] key : keys) {
        if (client.get(arena.allocateFrom(ValueLayout.JAVA_BYTE, key), none) < 0) {
          absent.add(key);
        }
      }
    }
    Absent.requireNone(absent);
    return 0;
  }
}
