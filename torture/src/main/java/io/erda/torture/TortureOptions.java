package io.erda.torture;

import io.erda.eval.process.DeviceChoice;
import io.erda.protocol.PutMode;
import io.erda.server.Committers;
import java.nio.file.Path;

/**
 * The options of a run.
 *
 * @param seconds at least
 * @param kills at least, of server and clients together; 0: no minimum
 * @param clients at a time, at least 2
 * @param accessMsMax how long after a client's kill its keys may delay other clients
 * @param transport how clients reach the server
 * @param putMode of the stores
 * @param commits who commits updates, in most servers; in the others the server does
 * @param faultyWire whether clients over TCP reach every other store through a {@link FaultyWire}
 */
public record TortureOptions(
    int seconds,
    int kills,
    int clients,
    long seed,
    long accessMsMax,
    DeviceChoice transport,
    PutMode putMode,
    Committers commits,
    boolean faultyWire,
    Path temporaryDirectory) {}
