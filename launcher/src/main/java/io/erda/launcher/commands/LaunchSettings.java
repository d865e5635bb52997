package io.erda.launcher.commands;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;

/**
 * What a JVM of ours is started with, written into the launcher by the build.
 *
 * <p>Whoever starts another JVM (a server process of its own, a second client) takes the flags and
 * the class path from here.
 *
 * @param version of this build
 * @param jvmFlags what the libraries need, in the order of the command line
 */
public record LaunchSettings(String version, List<String> jvmFlags) {
  private static final String RESOURCE = "/io/erda/launcher/launcher.properties";

  public LaunchSettings {
    jvmFlags = List.copyOf(jvmFlags);
  }

  /** Reads the settings of the running build. */
  public static LaunchSettings load() {
    Properties properties = new Properties();
    try (InputStream in = LaunchSettings.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException("not on the class path: " + RESOURCE);
      }
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new LaunchSettings(
        properties.getProperty("version"),
        Arrays.asList(properties.getProperty("jvm.flags").split("\\s+")));
  }

  /** The class path of this JVM. */
  public static String classPath() {
    return System.getProperty("java.class.path");
  }
}
