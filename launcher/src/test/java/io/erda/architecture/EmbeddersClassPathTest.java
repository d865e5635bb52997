package io.erda.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Tests the class path that an application gets from Maven when it depends on an artifact of Erda.
 * It is computed from the poms, because a test has all artifacts on its class path.
 */
class EmbeddersClassPathTest {
  private static final Path MODULES = Path.of("..");

  @Test
  void aClientBringsNoLibrary() throws Exception {
    assertNoneBy("erda-client");
  }

  @Test
  void anEmbeddedStoreBringsNoLibrary() throws Exception {
    assertNoneBy("erda-server");
  }

  /** The reading of the poms, on the one module that brings much. */
  @Test
  void theLauncherBringsWhatItsPomsSay() throws Exception {
    Set<String> found = new TreeSet<>();
    collect("erda-launcher", new TreeSet<>(), found);
    assertTrue(found.contains("com.github.jnr:jnr-posix"), found::toString);
    assertTrue(found.contains("com.ibm.disni:disni"), "by erda-rdma-verbs: " + found);
  }

  private static void assertNoneBy(String artifact) throws Exception {
    Set<String> ours = new TreeSet<>();
    Set<String> others = new TreeSet<>();
    collect(artifact, ours, others);
    assertTrue(ours.contains("erda-pmem"), ours::toString);
    assertEquals(Set.of(), others, artifact);
  }

  private static void collect(String artifact, Set<String> ours, Set<String> others)
      throws Exception {
    if (!ours.add(artifact)) {
      return;
    }
    String name = artifact.substring("erda-".length());
    Path module = MODULES.resolve(Files.exists(MODULES.resolve(artifact)) ? artifact : name);
    Element pom =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(module.resolve("pom.xml").toFile())
            .getDocumentElement();
    NodeList all = pom.getElementsByTagName("dependency");
    for (int i = 0; i < all.getLength(); i++) {
      Element each = (Element) all.item(i);
      if (text(each, "scope").matches("|compile|runtime")
          && !text(each, "optional").equals("true")) {
        if (text(each, "groupId").equals("io.erda")) {
          collect(text(each, "artifactId"), ours, others);
        } else {
          others.add(text(each, "groupId") + ":" + text(each, "artifactId"));
        }
      }
    }
  }

  /** Empty where there is no such element. */
  private static String text(Element of, String name) {
    NodeList found = of.getElementsByTagName(name);
    return found.getLength() == 0 ? "" : found.item(0).getTextContent().strip();
  }
}
