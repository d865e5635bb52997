package io.erda.launcher;

import io.erda.cleaner.CleanerOptions;
import io.erda.client.ErdaClient;
import io.erda.hashtable.HashTable;
import io.erda.logstore.LogStore;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.Protocol;
import io.erda.rdma.Device;
import io.erda.server.ErdaServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.DebugElementsOption;
import java.lang.classfile.ClassFile.LineNumbersOption;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Makes a jar of this version that {@link KeptVersionsTest} keeps: what clients and servers need,
 * without what only a debugger reads.
 */
final class VersionToKeep {
  /** One class of each module that a client or a server of a kept version needs. */
  private static final List<Class<?>> OF_EACH_MODULE =
      List.of(
          PersistentMemory.class,
          Device.class,
          Protocol.class,
          HashTable.class,
          LogStore.class,
          CleanerOptions.class,
          ErdaClient.class,
          ErdaServer.class);

  private VersionToKeep() {}

  /**
   * Packs the classes of this process. The names and times in the jar do not depend on the machine.
   */
  static void pack(Path jar) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    for (Class<?> one : OF_EACH_MODULE) {
      add(one, files);
    }
    try (OutputStream out = Files.newOutputStream(jar);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      // The archive is stored without compression, because gzip compresses all of it.
      zip.setLevel(0);
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        ZipEntry entry = new ZipEntry(file.getKey());
        entry.setTimeLocal(LocalDateTime.of(1980, 1, 1, 0, 0));
        zip.putNextEntry(entry);
        zip.write(file.getValue());
      }
    }
  }

  private static void add(Class<?> ofModule, Map<String, byte[]> files) throws IOException {
    Path from;
    try {
      from = Path.of(ofModule.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IOException(e);
    }
    if (Files.isDirectory(from)) {
      addAll(from, files);
    } else {
      try (FileSystem jar = FileSystems.newFileSystem(from)) {
        addAll(jar.getPath("/"), files);
      }
    }
  }

  private static void addAll(Path root, Map<String, byte[]> files) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      all.filter(Files::isRegularFile)
          .forEach(file -> {
            String name = root.relativize(file).toString();
            if (isNeeded(name)) {
              files.put(name, name.endsWith(".class") ? stripped(file) : bytes(file));
            }
          });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** A jar of Maven's says more, of itself and of where it comes from. */
  private static boolean isNeeded(String name) {
    return !name.equals("module-info.class")
        && (!name.startsWith("META-INF/") || name.startsWith("META-INF/services/"));
  }

  private static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As {@code javac -g:none} makes it. */
  private static byte[] stripped(Path file) {
    ClassFile classFile =
        ClassFile.of(DebugElementsOption.DROP_DEBUG, LineNumbersOption.DROP_LINE_NUMBERS);
    return classFile.transformClass(
        classFile.parse(bytes(file)),
        ClassTransform.transformingMethodBodies(CodeTransform.ACCEPT_ALL)
            .andThen(ClassTransform.dropping(element -> element instanceof SourceFileAttribute)));
  }
}
