package io.erda.verbs.ffm;

import com.ibm.disni.verbs.RdmaProvider;
import java.io.IOException;
import java.lang.reflect.Field;

/**
 * DiSNI without a native library of its own: libibverbs and librdmacm through Java's foreign
 * functions. {@link #install} once, then use {@code RdmaCm.open()} and {@code RdmaVerbs.open()} as
 * usual.
 */
public final class FfmProvider extends RdmaProvider {
  private final FfmCm cm;
  private final FfmVerbs verbs;

  private FfmProvider() throws IOException {
    Libibverbs libibverbs = new Libibverbs();
    cm = new FfmCm(new Librdmacm());
    verbs = new FfmVerbs(libibverbs, cm);
  }

  /**
   * Makes DiSNI use this provider, in place of its own, from now on; one that is installed already
   * stays. To be called before any other method of DiSNI.
   *
   * @throws IOException when a library is missing or not as expected
   */
  public static synchronized FfmProvider install() throws IOException {
    try {
      Field field = field();
      if (field.get(null) instanceof FfmProvider installed) {
        return installed;
      }
      FfmProvider provider = new FfmProvider();
      field.set(null, provider);
      return provider;
    } catch (ReflectiveOperationException e) {
      throw new IOException("this version of DiSNI keeps its provider elsewhere", e);
    }
  }

  /** Loads a library that the verbs need, for the life of the JVM. Returns whether that worked. */
  public static boolean canLoad(String library) {
    try {
      Foreign.load(library);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** The field in which DiSNI keeps its provider. */
  static Field field() throws ReflectiveOperationException {
    Field field = RdmaProvider.class.getDeclaredField("provider");
    field.setAccessible(true);
    return field;
  }

  @Override
  public FfmCm openCm() {
    return cm;
  }

  @Override
  public FfmVerbs openVerbs() {
    return verbs;
  }

  /** The version of DiSNI's interface. */
  @Override
  public int getVersion() {
    return 24;
  }
}
