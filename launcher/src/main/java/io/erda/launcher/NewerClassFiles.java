package io.erda.launcher;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * Converts the classes of a jar to a newer version of class files, and changes nothing else in
 * them. The class cache (JEP 483) does not take classes without stack maps, from before Java 6, and
 * those of picocli, which each command loads, are of Java 5: reading and verifying them takes about
 * a quarter of a short command's time.
 *
 * <p>Usage: {@code NewerClassFiles JAR...}, on a class path with the jars. A jar that can't be read
 * completely stays as it is; then commands only start more slowly.
 */
final class NewerClassFiles {
  /** The first version whose classes have stack maps for the verifier. */
  private static final int WITH_STACK_MAPS = ClassFile.JAVA_6_VERSION;

  private NewerClassFiles() {}

  public static void main(String[] args) throws IOException {
    for (String jar : args) {
      renew(Path.of(jar));
    }
  }

  /** Converts a jar. The new file replaces the jar when it is whole, and keeps its time. */
  static void renew(Path jar) throws IOException {
    Path next = jar.resolveSibling(jar.getFileName() + ".next");
    try {
      try (ZipInputStream from = new ZipInputStream(Files.newInputStream(jar));
          ZipOutputStream to = new ZipOutputStream(Files.newOutputStream(next))) {
        copy(from, to);
      }
      Files.setLastModifiedTime(next, Files.getLastModifiedTime(jar));
      Files.move(next, jar, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(next);
    }
  }

  private static void copy(ZipInputStream from, ZipOutputStream to) throws IOException {
    for (ZipEntry entry = from.getNextEntry(); entry != null; entry = from.getNextEntry()) {
      ZipEntry copy = new ZipEntry(entry.getName());
      copy.setLastModifiedTime(entry.getLastModifiedTime());
      to.putNextEntry(copy);
      byte[] bytes = from.readAllBytes();
      to.write(entry.getName().endsWith(".class") ? renewed(bytes) : bytes);
      to.closeEntry();
    }
  }

  static byte[] renewed(byte[] bytes) {
    ClassFile files = ClassFile.of(ClassFile.StackMapsOption.GENERATE_STACK_MAPS);
    ClassModel old = files.parse(bytes);
    if (old.majorVersion() >= WITH_STACK_MAPS) {
      return bytes;
    }
    return files.transformClass(
        old,
        // Stack maps are only made for bodies that are written anew.
        ClassTransform.transformingMethodBodies(CodeBuilder::with)
            .andThen(
                ClassTransform.endHandler(
                    builder -> builder.withVersion(ClassFile.JAVA_8_VERSION, 0))));
  }
}
