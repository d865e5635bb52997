package io.erda.simulation.mutants;

import io.erda.simulation.system.SystemSimulation;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import java.util.function.Supplier;

/**
 * The places where the server loads the same memory more than once in one step although a client
 * may store to it: memory of announced objects that are being written. A step of the server is one
 * event of the simulation, so calls are woven in between the loads, in which other processes go on.
 * Likewise between the last look of a commit at a version word and its swap.
 */
public final class Looks {
  /** Between the looks of the server, made anew for each use. */
  static final Supplier<List<Patch>> PATCHES =
      () ->
          List.of(
              between("server.engine.tables.StoredObjects", "matches", "valid"),
              between("server.engine.publishing.AnnouncedWords", "flush", "valid"),
              between("server.engine.publishing.AnnouncedWords", "flush", "bytes"),
              between("server.engine.publishing.AnnouncedWords", "commitOrRollBack", "makeDurable"),
              between("server.engine.publishing.Condition", "test", "isValue"));

  /** Before the swap of a commit, made anew for each use. */
  static final Supplier<List<Patch>> BEFORE_SWAPS =
      () -> List.of(between("server.engine.service.Committer", "commitFound", "swapWord"));

  private static SystemSimulation running;

  private Looks() {}

  private static Patch between(String className, String method, String look) {
    return Patch.beforeCall(className, method, look, Looks::call);
  }

  private static void call(CodeBuilder code) {
    code.invokestatic(
        ClassDesc.of(Looks.class.getName()), "now", MethodTypeDesc.ofDescriptor("()V"));
  }

  /** Called by the woven code. */
  public static void now() {
    running.serverLooks();
  }

  /** Runs it to its end, and returns how it failed, or null. One run at a time. */
  static String during(SystemSimulation simulation) {
    running = simulation;
    try {
      return simulation.run().failure();
    } finally {
      running = null;
    }
  }
}
