package io.erda.simulation.mutants;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.function.LongFunction;

/** Erda once more, production and simulation, with some methods of production rewritten. */
final class PatchedLoader extends ClassLoader {
  private static final String ERDA = "io.erda.";

  private final List<Patch> patches;

  private PatchedLoader(List<Patch> patches) {
    super(PatchedLoader.class.getClassLoader());
    this.patches = patches;
  }

  /**
   * Makes a function that runs a seed, in a separate class loader.
   *
   * @param seeds a class with one constructor, which gets the arguments; they are of classes of the
   *     JDK
   */
  @SuppressWarnings("unchecked")
  static LongFunction<String> make(
      List<Patch> patches, Class<? extends LongFunction<String>> seeds, Object... arguments) {
    try {
      return (LongFunction<String>)
          new PatchedLoader(patches)
              .loadClass(seeds.getName())
              .getDeclaredConstructors()[0]
              .newInstance(arguments);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
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
