package io.erda.server;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** Which Erda this is. */
final class ErdaVersion {
  /** Filled in by the build. */
  private static final String RESOURCE = "version.properties";

  /** As releases are numbered; {@code unknown} where no build has filled it in. */
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
