package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.pmem.Backing;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A writer is stopped in the middle of a WRITE. Then the key is revoked, the region's pages are
 * given back to the file system, and the disk becomes full, so that the writer's next store finds
 * no page. This happens to a client when the server cleans the region into which it writes.
 *
 * <p>The small disk is mounted in a mount namespace of a child, which the kernel removes with the
 * child. Where this user may not make one, the test is skipped.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class HoleOnAFullDiskTest {
  private static final String UNSHARE = "unshare --user --map-root-user --mount ";
  private static final int BYTES = 16 << 20;

  @TempDir private Path directory;

  @Test
  void aWriterThatWakesThereIsToldThatItsKeyIsRevoked() throws Exception {
    String mount = "mount -t tmpfs -o size=40m erda-test " + directory;
    Assumptions.assumeTrue(
        new ProcessBuilder("sh", "-c", UNSHARE + "sh -c '" + mount + "'").start().waitFor() == 0,
        "no mount namespaces for this user");
    Process child =
        new ProcessBuilder(
                "sh",
                "-c",
                UNSHARE
                    + "sh -c '"
                    + mount
                    + " && exec \"$@\"' sh "
                    + String.join(" ", command("server", directory)))
            .redirectError(Redirect.INHERIT)
            .start();
    try (BufferedReader out = child.inputReader(StandardCharsets.UTF_8)) {
      List<String> lines = out.lines().toList();
      assertEquals("stopped in a WRITE", lines.getFirst());
      assertEquals("hole in a full disk", lines.get(1));
      assertEquals("WRITE: remote access error, another region: success", lines.get(2));
      assertEquals(0, child.waitFor());
    } finally {
      child.destroyForcibly();
    }
  }

  private static List<String> command(String role, Path directory) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-XX:-UsePerfData",
        "-XX:-CreateCoredumpOnCrash",
        "-XX:ErrorFile=/dev/stderr",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getProperty("java.class.path"),
        HoleOnAFullDiskTest.class.getName(),
        role,
        directory.toString());
  }

  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[1]);
    if (arguments[0].equals("server")) {
      serve(directory);
    } else {
      write(directory);
    }
  }

  private static void serve(Path directory) throws Exception {
    Process writer = null;
    try (Arena arena = Arena.ofShared();
        ShmDevice device =
            ShmDevice.open(ShmOptions.toServe(directory.resolve("shm"), System::nanoTime))) {
      DeviceFixture.ServerMemory big =
          ShmFixture.memoryFile(directory.resolve("big"), BYTES, arena);
      DeviceFixture.ServerMemory other =
          ShmFixture.memoryFile(directory.resolve("other"), 4096, arena);
      MemoryRegion revoked = register(device, big);
      MemorySegment keys =
          MemorySegment.ofArray(
              new long[] {revoked.remoteKey(), register(device, other).remoteKey()});
      Listener listener = device.listen(directory.resolve("shm").toString());
      writer =
          new ProcessBuilder(command("writer", directory)).redirectError(Redirect.INHERIT).start();
      ConnectionRequest request = null;
      while (request == null) {
        device.await(1_000_000);
        request = listener.poll();
      }
      request.accept(keys);
      stopInAWrite(writer, big.segment());
      System.out.println("stopped in a WRITE");
      device.deregister(revoked);
      require(run("fallocate", "-p", "-o", "0", "-l", "" + BYTES, big.backing().file().toString()));
      fillUp(directory.resolve("ballast"));
      System.out.println("hole in a full disk");
      signal("-CONT", writer);
      try (BufferedReader out =
          new BufferedReader(
              new InputStreamReader(writer.getInputStream(), StandardCharsets.UTF_8))) {
        System.out.println(out.readLine());
      }
      require(writer.waitFor(20, TimeUnit.SECONDS) && writer.exitValue() == 0);
    } finally {
      if (writer != null) {
        writer.destroyForcibly();
      }
    }
  }

  private static MemoryRegion register(ShmDevice device, DeviceFixture.ServerMemory memory) {
    return device.register(
        memory.segment(), memory.backing(), Access.REMOTE_READ | Access.REMOTE_WRITE);
  }

  /** In one when the first and the last word are of two WRITEs. */
  private static void stopInAWrite(Process writer, MemorySegment written) throws Exception {
    while (true) {
      while (written.get(ValueLayout.JAVA_LONG, 0) == 0) {
        Thread.onSpinWait();
      }
      signal("-STOP", writer);
      while (!state(writer).equals("T")) {
        Thread.onSpinWait();
      }
      if (written.get(ValueLayout.JAVA_LONG, 0)
          != written.get(ValueLayout.JAVA_LONG, BYTES - Long.BYTES)) {
        return;
      }
      signal("-CONT", writer);
    }
  }

  private static String state(Process process) throws IOException {
    String status = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
    return status.substring(status.lastIndexOf(')') + 2, status.lastIndexOf(')') + 3);
  }

  private static void fillUp(Path ballast) {
    try (FileChannel file =
        FileChannel.open(ballast, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer page = ByteBuffer.allocate(4096);
      while (true) {
        file.write(page.clear());
      }
    } catch (IOException e) {
      // It is full.
    }
  }

  private static void signal(String signal, Process process) throws Exception {
    require(run("kill", signal, Long.toString(process.pid())));
  }

  private static boolean run(String... command) throws Exception {
    return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
  }

  private static void require(boolean condition) {
    if (!condition) {
      throw new IllegalStateException("not as it should be");
    }
  }

  /** WRITEs ones and twos in turn until that fails. */
  private static void write(Path directory) throws Exception {
    List<Integer> statuses = new ArrayList<>();
    CompletionHandler handler = (wrId, opcode, status, length, imm) -> statuses.add(status);
    try (ShmDevice device = ShmDevice.open(ShmOptions.toConnect(System::nanoTime))) {
      QueuePair queuePair =
          device.connect(
              directory.resolve("shm").toString(),
              MemorySegment.ofArray(new byte[0]),
              Duration.ofSeconds(20));
      while (queuePair.poll(handler, 1) == 0) {
        queuePair.await(1_000_000);
      }
      long[] keys =
          Arrays.copyOf(queuePair.privateData().toArray(ValueLayout.JAVA_LONG_UNALIGNED), 2);
      MemorySegment own = Arena.global().allocate(2L * BYTES, 8);
      own.asSlice(0, BYTES).fill((byte) 1);
      own.asSlice(BYTES).fill((byte) 2);
      MemoryRegion local = device.register(own, Backing.none(own.byteSize()), Access.LOCAL);
      for (int turn = 0; statuses.getLast() == Status.SUCCESS; turn++) {
        queuePair.post(
            Work.write()
                .id(turn)
                .local(local, (turn & 1) * (long) BYTES, BYTES)
                .remote(keys[0], 0)
                .signaled());
        queuePair.poll(handler, 1);
      }
      int ended = statuses.getLast();
      queuePair.post(Work.write().local(local, 0, 4096).remote(keys[1], 0).signaled());
      queuePair.poll(handler, 1);
      System.out.println(
          "WRITE: " + Status.name(ended) + ", another region: " + Status.name(statuses.getLast()));
    }
  }
}
