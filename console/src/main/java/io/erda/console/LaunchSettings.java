package io.erda.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;

/**
 * What a JVM of this build is started with, as the build wrote it down.
 *
 * <p>Code that starts another JVM, for a server process for example, takes the flags and the class
 * path from here.
 *
 * @param version of this build
 * @param jvmFlags what the libraries need, in the order of the command line
 * @param serverJvmFlags what a server's process has besides
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
