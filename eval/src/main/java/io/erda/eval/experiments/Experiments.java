package io.erda.eval.experiments;

import io.erda.eval.Experiment;
import io.erda.eval.baselines.BaselinesExperiment;
import io.erda.eval.baselines.BytesExperiment;
import io.erda.eval.baselines.ClientsExperiment;
import io.erda.eval.baselines.Deployment;
import io.erda.eval.baselines.ProfileExperiment;
import io.erda.eval.baselines.SimulatedExperiment;
import io.erda.eval.baselines.SizesExperiment;
import io.erda.eval.experiments.cleaning.CleaningExperiment;
import io.erda.eval.experiments.cleaning.FootprintExperiment;
import io.erda.eval.experiments.cleaning.OverwriteExperiment;
import io.erda.eval.experiments.cleaning.UtilisationExperiment;
import io.erda.eval.experiments.gets.FloorExperiment;
import io.erda.eval.experiments.gets.MultiGetExperiment;
import io.erda.eval.experiments.gets.RedisExperiment;
import io.erda.eval.experiments.gets.ScalingExperiment;
import io.erda.eval.experiments.keeping.BackupExperiment;
import io.erda.eval.experiments.keeping.EnduranceExperiment;
import io.erda.eval.experiments.network.TcpExperiment;
import io.erda.eval.experiments.processor.IdleExperiment;
import io.erda.eval.experiments.processor.ServerCpuExperiment;
import io.erda.eval.experiments.processor.SteadyExperiment;
import io.erda.eval.experiments.processor.WakeupExperiment;
import io.erda.eval.experiments.puts.GrowthExperiment;
import io.erda.eval.experiments.puts.PowerExperiment;
import io.erda.eval.experiments.puts.PublishExperiment;
import io.erda.eval.experiments.scale.ScaleExperiment;
import io.erda.eval.experiments.starts.RestartExperiment;
import io.erda.eval.peers.BeyondMemoryExperiment;
import io.erda.eval.peers.CoresExperiment;
import io.erda.eval.peers.PeersExperiment;
import io.erda.eval.peers.YcsbExperiment;
import java.util.List;

/** All experiments, in the order in which {@code eval run all} runs them. */
public final class Experiments {
  public static final List<Experiment> ALL =
      List.of(
          new FloorExperiment(),
          new RedisExperiment(),
          new ServerCpuExperiment(),
          new ScalingExperiment(),
          new ScaleExperiment(),
          new IdleExperiment(),
          new WakeupExperiment(),
          new SteadyExperiment(),
          new RestartExperiment(),
          new GrowthExperiment(),
          new CleaningExperiment(),
          new OverwriteExperiment(),
          new FootprintExperiment(),
          new UtilisationExperiment(),
          new PowerExperiment(),
          new PublishExperiment(),
          new MultiGetExperiment(),
          new TcpExperiment(),
          new BackupExperiment(),
          new EnduranceExperiment(),
          new PeersExperiment(),
          new YcsbExperiment(),
          new BeyondMemoryExperiment(),
          new CoresExperiment(),
          new BaselinesExperiment(Deployment.SHM),
          new BaselinesExperiment(Deployment.EMBEDDED),
          new BaselinesExperiment(Deployment.TCP),
          new BaselinesExperiment(Deployment.RDMA),
          new ProfileExperiment(),
          new SizesExperiment(),
          new ClientsExperiment(),
          new BytesExperiment(),
          new SimulatedExperiment());

  private Experiments() {}
}
