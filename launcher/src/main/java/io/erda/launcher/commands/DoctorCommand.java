package io.erda.launcher.commands;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.LaunchSettings;
import io.erda.console.OneLine;
import io.erda.launcher.doctor.Doctor;
import io.erda.launcher.doctor.Finding;
import io.erda.launcher.doctor.Finding.State;
import io.erda.launcher.doctor.Surroundings;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda doctor}: checks whether this machine and this user meet Erda's requirements. */
@Command(
    name = "doctor",
    description =
        "Say what this machine and this user can do for Erda, and what mends what is missing."
            + " Nothing is changed.",
    footer = {
      "",
      "A line for each thing: ok; note, where Erda works and could have more; wrong, where it does"
          + " not work over shared memory and TCP. RDMA is optional, so nothing of it is wrong."
          + " Exit code 0: nothing is wrong; 1: something is.",
      "",
      "  ./erda doctor --data /var/lib/erda"
    })
public final class DoctorCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The directory where a store is or will be; the current one by default.")
  private Path data;

  @Option(
      names = "--json",
      description = "Print one JSON object instead: name, state, found and mend of each thing.")
  private boolean json;

  @Override
  public Integer call() {
    Path directory = (data == null ? Path.of("") : data).toAbsolutePath().normalize();
    List<Finding> findings =
        Doctor.examine(
            Surroundings.ofThisProcess(directory, data != null), LaunchSettings.load().jvmFlags());
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(json(directory, findings));
    } else {
      findings.forEach(each -> out.println(ProgramName.in(OneLine.of(line(each)))));
    }
    return findings.stream().anyMatch(each -> each.state() == State.WRONG) ? 1 : 0;
  }

  private static String line(Finding finding) {
    String line = "%-5s  %-14s  %s".formatted(word(finding), finding.name(), finding.found());
    return finding.mend() == null ? line : line + ". To mend it: " + finding.mend();
  }

  private static ObjectNode json(Path directory, List<Finding> findings) {
    ObjectNode node = new ObjectMapper().createObjectNode();
    node.put("data", directory.toString());
    node.put("wrong", findings.stream().filter(each -> each.state() == State.WRONG).count());
    var all = node.putArray("findings");
    for (Finding each : findings) {
      all.addObject()
          .put("name", each.name())
          .put("state", word(each))
          .put("found", ProgramName.in(each.found()))
          .put("mend", each.mend() == null ? null : ProgramName.in(each.mend()));
    }
    return node;
  }

  private static String word(Finding finding) {
    return finding.state().name().toLowerCase(Locale.ROOT);
  }
}
