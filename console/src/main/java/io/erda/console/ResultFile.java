package io.erda.console;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The file of {@code --json FILE}, for commands that work for a while. */
public final class ResultFile {
  /**
   * Checks before all the work that the result can be written. An existing file is unchanged until
   * then.
   *
   * @param file null when no file is to be written
   */
  public static void requireWritable(Path file) throws IOException {
    if (file == null) {
      return;
    }
    if (Files.isDirectory(file)) {
      throw new UserError("--json is a directory: " + file, 2);
    }
    boolean fresh = Files.notExists(file);
    Files.newByteChannel(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
    if (fresh) {
      Files.delete(file);
    }
  }

  /** Writes a result, indented; does nothing when {@code file} is null. */
  public static void write(Path file, ObjectNode result) throws IOException {
    if (file != null) {
      ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
      Files.writeString(file, mapper.writeValueAsString(result) + "\n");
    }
  }

  private ResultFile() {}
}
