package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.console.CommandProvider;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands that measure and test, of which jars are missing or of another version. */
class LaboratoryTest {
  private static final String MISSING = "io.erda.eval.commands.Missing";

  @TempDir Path directory;
  private final ClassLoader before = Thread.currentThread().getContextClassLoader();
  private URLClassLoader incomplete;

  @BeforeEach
  void nameAProviderThatIsMissing() throws Exception {
    Path services = Files.createDirectories(directory.resolve("META-INF/services"));
    Files.writeString(services.resolve(CommandProvider.class.getName()), MISSING + "\n");
    incomplete = new URLClassLoader(new URL[] {directory.toUri().toURL()}, before);
    Thread.currentThread().setContextClassLoader(incomplete);
  }

  @AfterEach
  void forgetIt() throws Exception {
    Thread.currentThread().setContextClassLoader(before);
    incomplete.close();
  }

  @Test
  void helpAndCompletionTellOfTheCommandsThatAreThere() {
    for (String line : new String[] {"--help", "help", "completion bash"}) {
      StringWriter out = new StringWriter();
      StringWriter err = new StringWriter();
      assertEquals(0, run(out, err, line.split(" ")), err::toString);
      assertTrue(out.toString().contains("backup"), out::toString);
    }
  }

  /** With the provider that is missing, the laboratory's own are on the class path of tests. */
  @Test
  void helpBeginsWithWhatANewcomerDoesFirst() {
    StringWriter out = new StringWriter();
    assertEquals(0, run(out, new StringWriter(), "--help"));
    String commands = out.toString().replaceFirst("(?s).*Commands:\\R *", "");
    assertTrue(commands.startsWith("quickstart "), commands);
    assertEquals(2, commands.split("(?m)^ *quickstart ", -1).length, commands);
  }

  @Test
  void aCommandThatIsNoneIsTold() {
    StringWriter err = new StringWriter();
    assertEquals(2, run(new StringWriter(), err, "gett"));
    assertTrue(err.toString().contains("did you mean get?"), err::toString);
  }

  @Test
  void commandsOfStoresAreNotAskedOfTheLaboratory() {
    assertEquals(false, ErdaCommand.isProvided("put"));
    assertEquals(false, ErdaCommand.isProvided("gett"));
  }

  private static int run(StringWriter out, StringWriter err, String... arguments) {
    return Main.run(new PrintWriter(out), new PrintWriter(err), false, arguments);
  }
}
