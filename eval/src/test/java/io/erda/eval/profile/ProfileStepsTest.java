package io.erda.eval.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class ProfileStepsTest {
  private static final ProfileSteps STEPS =
      ProfileSteps.none()
          .then("cleans", "cleaner.Cleaner.doWork")
          .then("publishes", "engine.Publication", "engine.Publishing");

  @Test
  void aSampleBelongsToTheFirstStepWhereverItsMethodIs() {
    assertEquals(
        "cleans",
        STEPS.of(
            List.of(
                "io.erda.engine.Publication.find",
                "io.erda.cleaner.Cleaner.doWork",
                "io.erda.engine.ServerCore.doWork")));
    assertEquals(
        "publishes",
        STEPS.of(List.of("java.lang.Math.min", "io.erda.engine.Publishing.publish", "Main.main")));
  }

  @Test
  void whatBelongsToNoStepIsTheRest() {
    assertEquals(ProfileSteps.REST, STEPS.of(List.of("io.erda.cleaner.Cleaner.pace", "Main.main")));
    assertEquals(ProfileSteps.REST, STEPS.of(List.of()));
  }

  @Test
  void sharesArePartsOfAllSamples() {
    ProfileSteps.Shares shares = STEPS.new Shares();
    assertEquals(0, shares.of("cleans"));
    for (int i = 0; i < 3; i++) {
      shares.add(List.of("io.erda.cleaner.Cleaner.doWork"));
    }
    shares.add(List.of("Main.main"));
    assertEquals(4, shares.samples());
    assertEquals(0.75, shares.of("cleans"));
    assertEquals(0, shares.of("publishes"));
    assertEquals(0.25, shares.of(ProfileSteps.REST));
  }
}
