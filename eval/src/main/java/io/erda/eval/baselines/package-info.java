/**
 * The Erda paper's comparison (§5): Erda beside the two schemes that it compares itself with, Redo
 * Logging and Read After Write.
 *
 * <ul>
 *   <li>The two schemes on Erda's own seams. {@code BaselineStore} is a store on persistent memory
 *       with a {@code RedoLog} in front of a {@code Slab} of places; {@link
 *       io.erda.eval.baselines.BaselineServer} and {@link io.erda.eval.baselines.BaselineClient}
 *       speak {@code BaselineMessage}s; they are served by {@link
 *       io.erda.eval.baselines.BaselineChild}, a process, or embedded. See {@code
 *       docs/decisions/2026-11-23-baselines.md}.
 *   <li>The compared schemes: a {@code Scheme} is Erda with one of its two kinds of puts, or one of
 *       the baselines. A {@code ComparedStore} of it is served, over one of the transports, or
 *       embedded; {@code SideBySide} runs a {@code PaperWorkload} of YCSB on all of them in turn.
 *   <li>The experiments: {@link io.erda.eval.baselines.BaselinesExperiment}, with a choice of
 *       deployments, and the paper's figures and its table, measured ({@link
 *       io.erda.eval.baselines.SizesExperiment}, {@link io.erda.eval.baselines.ClientsExperiment},
 *       {@link io.erda.eval.baselines.BytesExperiment}) and in virtual time with the paper's
 *       network ({@link io.erda.eval.baselines.SimulatedExperiment}). {@link
 *       io.erda.eval.baselines.ProfileExperiment} shows where an update's time goes. {@code Beside}
 *       reports Erda's values beside another scheme's, with the paper's from {@code PaperFigures}.
 * </ul>
 */
package io.erda.eval.baselines;
