package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * Whether picocli's classes are as new as the class cache wants them, and still do what they did.
 */
class NewerClassFilesTest {
  private static final FileTime SOME_DAY = FileTime.fromMillis(1_700_000_000_000L);

  @TempDir private Path directory;
  private Path original;
  private Path jar;

  @BeforeEach
  void copyPicocli() throws Exception {
    original =
        Path.of(CommandLine.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    jar = directory.resolve("picocli.jar");
    Files.copy(original, jar);
    Files.setLastModifiedTime(jar, SOME_DAY);
  }

  @Test
  void everyClassOfPicocliIsVerifiedByStackMaps() throws Exception {
    assertTrue(
        classes(original).stream().anyMatch(each -> each.majorVersion() < ClassFile.JAVA_6_VERSION),
        "picocli has newer classes by itself: there is nothing left to do");
    NewerClassFiles.renew(jar);
    assertEquals(
        classes(original).stream().map(each -> each.thisClass().asInternalName()).toList(),
        classes(jar).stream().map(each -> each.thisClass().asInternalName()).toList());
    for (ClassModel each : classes(jar)) {
      assertTrue(
          each.majorVersion() >= ClassFile.JAVA_6_VERSION, each.thisClass().asInternalName());
      assertEquals(List.of(), ClassFile.of().verify(each), each.thisClass().asInternalName());
    }
    assertEquals(SOME_DAY, Files.getLastModifiedTime(jar));
  }

  @Test
  void itParsesAsBefore() throws Exception {
    NewerClassFiles.renew(jar);
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader())) {
      Class<?> commandLine = Class.forName("picocli.CommandLine", true, loader);
      Class<?> spec = Class.forName("picocli.CommandLine$Model$CommandSpec", true, loader);
      Object line =
          commandLine
              .getConstructor(Object.class)
              .newInstance(spec.getMethod("create").invoke(null));
      String usage = (String) commandLine.getMethod("getUsageMessage").invoke(line);
      assertTrue(usage.startsWith("Usage: <main class>"), usage);
    }
  }

  @Test
  void aNewClassStaysAsItIs() throws IOException {
    try (InputStream in = NewerClassFilesTest.class.getResourceAsStream("Main.class")) {
      byte[] bytes = in.readAllBytes();
      assertSame(bytes, NewerClassFiles.renewed(bytes));
    }
  }

  @Test
  void aJarThatCanNotBeReadStaysAsItIs() throws IOException {
    byte[] bytes = Files.readAllBytes(jar);
    bytes[bytes.length / 2] ^= 1;
    Files.write(jar, bytes);
    assertThrows(IOException.class, () -> NewerClassFiles.renew(jar));
    assertArrayEquals(bytes, Files.readAllBytes(jar));
    try (Stream<Path> left = Files.list(directory)) {
      assertEquals(List.of(jar), left.toList());
    }
  }

  private static List<ClassModel> classes(Path jar) throws IOException {
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      return zip.stream()
          .filter(entry -> entry.getName().endsWith(".class"))
          .map(entry -> ClassFile.of().parse(bytes(zip, entry)))
          .toList();
    }
  }

  private static byte[] bytes(ZipFile zip, ZipEntry entry) {
    try (InputStream in = zip.getInputStream(entry)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
