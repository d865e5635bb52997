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
 * Everything that is looked at; tests bring files of their own.
 *
 * @param data where a store is or will be
 * @param chosen whether somebody named {@code data}
 * @param proc the kernel's {@code /proc}
 * @param sys the kernel's {@code /sys}
 * @param dev where devices are
 * @param limits what the kernel holds this process to
 * @param rooms tells how much room there is
 * @param libraries whether a library can be loaded
 * @param abilities tells what the RDMA devices say that they offer
 */
public record Surroundings(
    Path data,
    boolean chosen,
    Path proc,
    Path sys,
    Path dev,
    Limits limits,
    JavaMachine java,
    Room.Asking rooms,
    Predicate<String> libraries,
    RdmaAsking abilities) {
  private static final int PIECE_BYTES = 1 << 16;

  /** Asks the RDMA devices, and changes nothing there. */
  @FunctionalInterface
  public interface RdmaAsking {
    /**
     * What each says.
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
        Limits.ofThisProcess(),
        JavaMachine.current(),
        Room::ofKernel,
        FfmProvider::canLoad,
        DeviceAbilities::ofThisMachine);
  }

  /**
   * The lines of a file of the kernel's; none where it can't be read. It is read in large pieces:
   * of a number in {@code /proc/sys} the kernel gives nothing behind the first read, and those of
   * {@link Files#readString} begin with one byte.
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

  /** The first of them; empty where there is none. */
  static String line(Path file) {
    List<String> lines = lines(file);
    return lines.isEmpty() ? "" : lines.getFirst().strip();
  }

  /** What a directory holds, in the order of names; nothing where there is no such directory. */
  static List<Path> entries(Path directory) {
    try {
      return Listing.names(directory).stream().map(directory::resolve).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Whether a server would open what is there, and not create a store. */
  static boolean holdsStore(Path data) {
    return Files.exists(data.resolve(StoreFiles.SUPERBLOCK));
  }

  /** The directory of the store, or the nearest one above it that is there. */
  Path nearest() {
    Path nearest = data.toAbsolutePath().normalize();
    while (nearest.getParent() != null && !Files.exists(nearest)) {
      nearest = nearest.getParent();
    }
    return nearest;
  }
}
