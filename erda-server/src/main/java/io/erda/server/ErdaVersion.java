package io.erda.server;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** The version of this Erda. */
final class ErdaVersion {
  /** Filled in by the build. */
  private static final String RESOURCE = "version.properties";

  /** The version, as releases are numbered; {@code unknown} when the build did not fill it in. */
  static String ofBuild() {
    Properties properties = new Properties();
    try (InputStream in = ErdaVersion.class.getResourceAsStream(RESOURCE)) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      return "unknown";
    }
    String version = properties.getProperty("version", "$");
    return version.startsWith("$") ? "unknown" : version;
  }

  private ErdaVersion() {}
}
