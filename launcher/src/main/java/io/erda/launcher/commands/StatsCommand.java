package io.erda.launcher.commands;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.client.ErdaClient;
import io.erda.eval.Table;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda stats}: the server's figures. */
@Command(
    name = "stats",
    description = "Show what a store holds and what its server has done since it started.")
public final class StatsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private Connection connection;

  @Option(
      names = "--json",
      description = "Print one JSON object, names and numbers, instead of a table.")
  private boolean json;

  @Override
  public Integer call() {
    Map<String, Long> figures;
    try (ErdaClient client = connection.connect()) {
      figures = client.stats();
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      ObjectNode node = new ObjectMapper().createObjectNode();
      figures.forEach(node::put);
      out.println(node);
    } else {
      Table table = new Table("figure", "value");
      figures.forEach((name, value) -> table.row(name, Table.count(value)));
      out.print(table);
    }
    return 0;
  }
}
