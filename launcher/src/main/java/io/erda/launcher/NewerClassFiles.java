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
 * Brings the classes of a jar to a newer version of class files, and changes nothing else of them.
 * The class cache takes no class of before Java 6 (JEP 483 leaves to the old verifier what has no
 * stack maps), and those of picocli, which each command loads, are of Java 5: to read and to verify
 * them takes about a quarter of a short command's time.
 *
 * <p>Usage: {@code NewerClassFiles JAR...}, on a class path with the jars. A jar in which something
 * can't be read stays as it is; then commands only start slower.
 */
final class NewerClassFiles {
  /** The first version whose classes have stack maps, by which they are verified. */
  private static final int WITH_STACK_MAPS = ClassFile.JAVA_6_VERSION;

  private NewerClassFiles() {}

  public static void main(String[] args) throws IOException {
    for (String jar : args) {
      renew(Path.of(jar));
    }
  }

  /** The jar has its place when it is whole, and the time that the old one had. */
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
        // Stack maps are made for bodies that are written anew, and for no others.
        ClassTransform.transformingMethodBodies(CodeBuilder::with)
            .andThen(
                ClassTransform.endHandler(
                    builder -> builder.withVersion(ClassFile.JAVA_8_VERSION, 0))));
  }
}
