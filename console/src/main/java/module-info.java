/** The common parts of the commands of {@code ./erda}. */
module io.erda.console {
  requires transitive com.fasterxml.jackson.databind;
  requires transitive info.picocli;

  exports io.erda.console;

  opens io.erda.console to
      info.picocli;
}
