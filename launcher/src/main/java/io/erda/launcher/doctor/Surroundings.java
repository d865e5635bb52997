package io.erda.launcher.doctor;

import io.erda.pmem.Listing;
import io.erda.server.engine.files.StoreFiles;
import io.erda.verbs.DeviceAbilities;
import io.erda.verbs.ffm.FfmProvider;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;

/**
 * Everything that is examined; tests supply their own files.
 *
 * @param data where a store is or will be
 * @param chosen whether the user named {@code data}
 * @param proc the kernel's {@code /proc}
 * @param sys the kernel's {@code /sys}
 * @param dev where devices are
 * @param limits the kernel's limits for this process
 * @param rooms tells how much room there is
 * @param libraries whether a library can be loaded
 * @param abilities tells what the RDMA devices offer
 */
public record Surroundings(
    Path data,
    boolean chosen,
    Path proc,
    Path sys,
    Path dev,
    KernelLimits limits,
    JavaMachine java,
    Room.Asking rooms,
    Predicate<String> libraries,
    RdmaAsking abilities) {
  private static final int PIECE_BYTES = 1 << 16;

  /** Asks the RDMA devices, and changes nothing there. */
  @FunctionalInterface
  public interface RdmaAsking {
    /**
     * The abilities of each device.
     *
     * @throws IOException when they can't be asked, in words for a user
     */
    List<DeviceAbilities> ask() throws IOException;
  }

  /** Returns the surroundings of this process. */
  public static Surroundings ofThisProcess(Path data, boolean chosen) {
    return new Surroundings(
        data,
        chosen,
        Path.of("/proc"),
        Path.of("/sys"),
        Path.of("/dev"),
        KernelLimits.ofThisProcess(),
        JavaMachine.current(),
        Room::ofKernel,
        FfmProvider::canLoad,
        DeviceAbilities::ofThisMachine);
  }

  /**
   * The lines of a file of the kernel; none when it can't be read. It is read in large pieces: the
   * kernel gives the content of a number in {@code /proc/sys} only to the first read, and {@link
   * Files#readString} first reads one byte.
   */
  static List<String> lines(Path file) {
    ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES);
    StringBuilder text = new StringBuilder();
    try (SeekableByteChannel channel = Files.newByteChannel(file)) {
      while (channel.read(piece.clear()) > 0) {
        text.append(StandardCharsets.ISO_8859_1.decode(piece.flip()));
      }
    } catch (IOException e) {
      return List.of();
    }
    return text.toString().lines().toList();
  }

  /** The first line; empty when there is none. */
  static String line(Path file) {
    List<String> lines = lines(file);
    return lines.isEmpty() ? "" : lines.getFirst().strip();
  }

  /** The entries of a directory, sorted by name; none when the directory does not exist. */
  static List<Path> entries(Path directory) {
    try {
      return Listing.names(directory).stream().map(directory::resolve).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Whether a server would open an existing store there, instead of creating one. */
  static boolean holdsStore(Path data) {
    return Files.exists(data.resolve(StoreFiles.SUPERBLOCK));
  }

  /** The directory of the store, or the nearest existing one above it. */
  Path nearest() {
    Path nearest = data.toAbsolutePath().normalize();
    while (nearest.getParent() != null && !Files.exists(nearest)) {
      nearest = nearest.getParent();
    }
    return nearest;
  }
}
