package io.erda.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;

/**
 * The settings for starting a JVM of this build, as written by the build.
 *
 * <p>Code that starts another JVM, for a server process for example, takes the flags and the class
 * path from here.
 *
 * @param version the version of this build
 * @param jvmFlags flags that the libraries need, in the order of the command line
 * @param serverJvmFlags further flags of a server's process
 */
public record LaunchSettings(String version, List<String> jvmFlags, List<String> serverJvmFlags) {
  private static final String RESOURCE = "/io/erda/console/launch.properties";

  public LaunchSettings {
    jvmFlags = List.copyOf(jvmFlags);
    serverJvmFlags = List.copyOf(serverJvmFlags);
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
        words(properties.getProperty("jvm.flags")),
        words(properties.getProperty("jvm.server.flags")));
  }

  private static List<String> words(String text) {
    return Arrays.asList(text.split("\\s+"));
  }

  /** The class path of this JVM. */
  public static String classPath() {
    return System.getProperty("java.class.path");
  }
}
