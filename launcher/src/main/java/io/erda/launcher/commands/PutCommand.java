package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import io.erda.console.UserError;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code erda put}: stores a value. */
@Command(
    name = "put",
    description = "Store a value. When it returns, the value has the promise of the store.",
    footer = {
      "",
      "  ./erda put --uri erda+shm:/var/lib/erda greeting hello",
      "  ./erda put --uri erda+shm:/var/lib/erda picture - < picture.png"
    })
public final class PutCommand implements Callable<Integer> {
  private static final String STANDARD_INPUT = "-";

  @Mixin private ConnectionOptions connection;
  @Mixin private ByteForm form;
  @Mixin private KeyFile keyFile;

  @Parameters(
      arity = "1..2",
      paramLabel = "KEY VALUE",
      hideParamSyntax = true,
      description =
          "The key and its value, byte for byte; - as value for the bytes of standard input. With"
              + " --key-file the value alone.")
  private List<String> arguments;

  /** The command {@code put --uri URI KEY VALUE}. */
  static PutCommand of(String uri, List<String> keyAndValue) {
    PutCommand command = new PutCommand();
    command.connection = ConnectionOptions.of(uri);
    command.form = new ByteForm();
    command.keyFile = new KeyFile();
    command.arguments = keyAndValue;
    return command;
  }

  @Override
  public Integer call() throws IOException {
    if (arguments.size() == 1 && !keyFile.isGiven()) {
      throw new UserError("the value is missing; - takes it from standard input", 2);
    }
    String value = arguments.getLast();
    byte[] key = keyFile.key(arguments.size() == 2 ? arguments.getFirst() : null, form);
    byte[] bytes = value.equals(STANDARD_INPUT) ? null : form.bytes("the value", value);
    try (ErdaClient client = connection.connect()) {
      client.put(key, bytes == null ? standardInput(client.valueBytesMax()) : bytes);
    }
    return 0;
  }

  /** Reads no more than the longest value, because the input may be endless. */
  private static byte[] standardInput(int bytesMax) {
    try {
      byte[] bytes = System.in.readNBytes(bytesMax);
      if (bytes.length == bytesMax && System.in.read() >= 0) {
        throw new UserError("standard input has more than the " + bytesMax + " bytes of a value");
      }
      return bytes;
    } catch (IOException e) {
      throw new UserError(
          "can't read the value from standard input (is it closed?), and nothing was stored: "
              + e.getMessage(),
          1,
          e);
    }
  }
}
