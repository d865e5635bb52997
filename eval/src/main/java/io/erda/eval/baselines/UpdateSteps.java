package io.erda.eval.baselines;

import io.erda.eval.profile.ProfileSteps;
import io.erda.protocol.PutMode;
import java.util.List;

/** The steps of both ends of an update over shared memory, by the methods that execute them. */
final class UpdateSteps {
  // Steps of a client.

  static final String BUILD = "builds the object: copies, checksum, key's hash";
  static final String WRITE = "WRITEs it to its place";
  static final String SEND = "builds and sends the request";
  static final String READ = "READs behind the WRITE";
  static final String WAIT = "waits for the answer, and takes it";

  // Steps of a server.

  static final String SWEEP = "cleans: sweeps the table for what lives";
  static final String RELOCATE = "cleans: looks at objects and their entries";
  static final String COPY = "cleans: copies objects";
  static final String CLEAN = "cleans: the rest";
  static final String SPACE = "gives out space";
  static final String APPLY = "applies the log to the slab";
  static final String CHECK = "checks the object: checksum, key's hash";
  static final String APPEND = "copies the object into the log: checksum";
  static final String DECIDE = "decides pending words: is the object whole?";
  static final String ANNOUNCE = "announces: looks the entry up, stores the word";
  static final String FIND = "looks the entry up, compares the key";
  static final String PUBLISH = "the rest of publishing: the word, figures";
  static final String ANSWER = "answers";
  static final String LOOK = "waits, and looks for requests";
  static final String TAKE = "takes a request and checks it";
  static final String STEP = "the rest of a step";

  /** The possible steps of a client, in the order of an update that publishes last. */
  static final List<String> CLIENT = List.of(BUILD, WRITE, READ, SEND, WAIT, ProfileSteps.REST);

  /** The possible steps of a server, in the order of an update that publishes last. */
  static final List<String> SERVER =
      List.of(
          LOOK,
          TAKE,
          CHECK,
          APPEND,
          ANNOUNCE,
          DECIDE,
          FIND,
          PUBLISH,
          ANSWER,
          APPLY,
          SWEEP,
          RELOCATE,
          COPY,
          CLEAN,
          SPACE,
          STEP,
          ProfileSteps.REST);

  static ProfileSteps ofClient(Scheme scheme) {
    if (scheme.isBaseline()) {
      return ProfileSteps.none()
          .then(WRITE, "rdma.rings.OneSidedWork.write")
          .then(BUILD, "eval.baselines.BaselineClient.writeObject", "logstore.ObjectChecksum")
          .then(SEND, "eval.baselines.BaselineClient.send", "eval.baselines.BaselineClient.start")
          .then(WAIT, "eval.baselines.BaselineCalls.await", "rdma.Poller");
    }
    ProfileSteps steps =
        ProfileSteps.none()
            .then(WRITE, "rdma.rings.OneSidedWork.write", "client.puts.Put.postWrite")
            .then(BUILD, "client.puts.PutObject.build", "client.puts.PutObject.keyWord");
    steps =
        scheme.puts() == PutMode.PUBLISH
            ? steps.then(SEND, "client.connections.Requests.send", "client.puts.Put.postPublish")
            : steps
                .then(READ, "client.puts.Put.postRoot", "client.puts.Put.onRead")
                .then(SEND, "client.connections.Requests.send", "client.puts.Put.postAnnounce");
    return steps.then(
        WAIT, "client.calls.BlockingCalls.drive", "client.calls.ClientCore.doWork", "rdma.Poller");
  }

  static ProfileSteps ofServer(Scheme scheme) {
    return scheme.isBaseline() ? ofBaselineServer() : ofErdaServer(scheme.puts());
  }

  private static ProfileSteps ofErdaServer(PutMode puts) {
    ProfileSteps steps =
        ProfileSteps.none()
            .then(SWEEP, "cleaner.Sweep.")
            .then(COPY, "cleaner.Copier")
            .then(RELOCATE, "cleaner.Relocation.", "cleaner.Measurement.", "cleaner.Cleaning.")
            .then(CLEAN, "cleaner.Cleaner.begin", "cleaner.Cleaner.done")
            .then(SPACE, "server.engine.service.LeaseGrants", "server.engine.service.RegionFiles")
            .then(
                ANSWER,
                "server.engine.service.Connection.respond",
                "server.engine.service.Connection.finish");
    steps =
        puts == PutMode.PUBLISH
            ? steps
                .then(
                    CHECK,
                    "server.engine.publishing.Publication.check",
                    "server.engine.publishing.LoadAhead.objects")
                .then(
                    FIND,
                    "server.engine.publishing.Publication.find",
                    "server.engine.publishing.LoadAhead.replaced")
                .then(
                    PUBLISH,
                    "server.engine.publishing.Publication",
                    "server.engine.service.Publishing.onPublish",
                    "server.engine.service.Publishing.beginWithCollected")
            : steps
                .then(ANNOUNCE, "server.engine.publishing.AnnouncedWords.announced")
                .then(DECIDE, "server.engine.publishing.AnnouncedWords")
                .then(ANNOUNCE, "server.engine.service.Announcing");
    return steps
        .then(
            TAKE,
            "server.engine.service.RequestDispatch.onMessage",
            "server.engine.service.Connection.onCompletion")
        .then(
            LOOK,
            "server.engine.service.ClientConnections.doWork",
            "server.engine.service.Publishing.publish",
            "rdma.Poller")
        .then(
            STEP, "server.engine.service.ServerCore", "server.ServerThread", "server.SharedSteps");
  }

  private static ProfileSteps ofBaselineServer() {
    return ProfileSteps.none()
        .then(APPLY, "eval.baselines.BaselineStore.applyBatch")
        .then(ANSWER, "eval.baselines.BaselineConnection.respond")
        .then(APPEND, "eval.baselines.BaselineStore.append")
        .then(CHECK, "eval.baselines.BaselineStore.see", "logstore.ObjectChecksum")
        .then(
            SPACE, "eval.baselines.BaselineServer.reserve", "eval.baselines.BaselineStore.reserve")
        .then(TAKE, "eval.baselines.BaselineConnection.onCompletion")
        .then(
            LOOK,
            "eval.baselines.BaselineConnection.poll",
            "eval.baselines.BaselineStore.look",
            "eval.baselines.BaselineStore.apply",
            "rdma.Poller")
        .then(STEP, "eval.baselines.BaselineServer", "eval.baselines.BaselineChild");
  }

  private UpdateSteps() {}
}
