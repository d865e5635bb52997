package io.erda.launcher.doctor;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
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
 * @param rooms tells how much room there is
 * @param libraries whether a library can be loaded
 */
public record Surroundings(
    Path data,
    boolean chosen,
    Path proc,
    Path sys,
    Path dev,
    JavaMachine java,
    Room.Asking rooms,
    Predicate<String> libraries) {
  private static final int PIECE_BYTES = 1 << 16;

  /** Returns the surroundings of this process. */
  public static Surroundings ofThisProcess(Path data, boolean chosen) {
    return new Surroundings(
        data,
        chosen,
        Path.of("/proc"),
        Path.of("/sys"),
        Path.of("/dev"),
        JavaMachine.current(),
        Room::ofKernel,
        Surroundings::canBeLoaded);
  }

  @SuppressWarnings("restricted")
  private static boolean canBeLoaded(String library) {
    try (Arena arena = Arena.ofConfined()) {
      SymbolLookup.libraryLookup(library, arena);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
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

  /** The directory of the store, or the nearest one above it that is there. */
  Path nearest() {
    Path nearest = data.toAbsolutePath().normalize();
    while (nearest.getParent() != null && !Files.exists(nearest)) {
      nearest = nearest.getParent();
    }
    return nearest;
  }
}
