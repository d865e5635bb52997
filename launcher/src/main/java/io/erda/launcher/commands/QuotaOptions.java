package io.erda.launcher.commands;

import io.erda.console.ByteSize;
import io.erda.console.UserError;
import io.erda.protocol.Protocol;
import io.erda.server.Quotas;
import picocli.CommandLine.Option;

/** The options of a server that limit each client, and all clients of one user. */
final class QuotaOptions {
  @Option(
      names = "--connections-per-user",
      paramLabel = "N",
      description =
          "The most clients at a time of one user other than the server's; half of --connections by"
              + " default.")
  private Integer connectionsPerUser;

  @Option(
      names = "--leased-bytes-per-client",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      description =
          "Refuse a client more space of the log than this that it has not written to yet; by"
              + " default what exceeds 1/16 of the log is taken back, and nobody refused.")
  private Long leasedBytesPerClient;

  @Option(
      names = "--leased-bytes-per-user",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      description =
          "The same for all clients of one user other than the server's; half of the log by"
              + " default.")
  private Long leasedBytesPerUser;

  @Option(
      names = "--operations-per-client",
      paramLabel = "N",
      description =
          "The most puts and deletes of a client that are under way at a time, 1 to 32; 32 by"
              + " default. Clients keep to it.")
  private Integer operationsPerClient;

  @Option(
      names = "--operations-per-user",
      paramLabel = "N",
      description =
          "The same for all clients of one user other than the server's, who are refused what is"
              + " more; no limit by default.")
  private Integer operationsPerUser;

  /** The quotas; throws a {@link UserError} that names an option with an invalid value. */
  Quotas quotas() {
    return new Quotas(
        (int) atLeastOne("--connections-per-user", connectionsPerUser),
        atLeastOne("--leased-bytes-per-client", leasedBytesPerClient),
        atLeastOne("--leased-bytes-per-user", leasedBytesPerUser),
        ServerCommand.atMost(
            "--operations-per-client",
            Protocol.REQUESTS_MAX,
            (int) atLeastOne("--operations-per-client", operationsPerClient)),
        (int) atLeastOne("--operations-per-user", operationsPerUser));
  }

  /** The value; 0 when the option was not given. */
  private static long atLeastOne(String flag, Number value) {
    if (value != null && value.longValue() < 1) {
      throw new UserError(flag + " must be at least 1: " + value, 2);
    }
    return value == null ? 0 : value.longValue();
  }
}
