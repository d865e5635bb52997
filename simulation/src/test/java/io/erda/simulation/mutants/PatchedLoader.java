package io.erda.simulation.mutants;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** Erda once more, production and simulation, with some methods of production rewritten. */
final class PatchedLoader extends ClassLoader {
  private static final String ERDA = "io.erda.";

  private final List<Patch> patches;

  PatchedLoader(List<Patch> patches) {
    super(PatchedLoader.class.getClassLoader());
    this.patches = patches;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(ERDA)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : define(name);
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    String resource = name.replace('.', '/') + ".class";
    try (InputStream in = getParent().getResourceAsStream(resource)) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = in.readAllBytes();
      for (Patch patch : patches) {
        if (name.equals(ERDA + patch.className())) {
          bytes = patch.apply(bytes);
        }
      }
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
