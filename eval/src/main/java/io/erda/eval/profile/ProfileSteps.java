package io.erda.eval.profile;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The steps of a thread's work, each identified by methods: a sample belongs to the first step that
 * has any method in its stack. Immutable.
 */
public final class ProfileSteps {
  /** The step for samples outside of all steps. */
  public static final String REST = "the rest";

  private final List<Step> steps;

  /**
   * @param methods prefixes of {@code package.Class.method}
   */
  private record Step(String name, List<String> methods) {
    boolean isIn(List<String> stack) {
      return stack.stream().anyMatch(frame -> methods.stream().anyMatch(frame::startsWith));
    }
  }

  private ProfileSteps(List<Step> steps) {
    this.steps = List.copyOf(steps);
  }

  public static ProfileSteps none() {
    return new ProfileSteps(List.of());
  }

  /**
   * Returns the same steps followed by another one.
   *
   * @param methods prefixes of {@code package.Class.method}, without {@code io.erda.}
   */
  public ProfileSteps then(String name, String... methods) {
    List<Step> more = new ArrayList<>(steps);
    more.add(new Step(name, List.of(methods).stream().map("io.erda."::concat).toList()));
    return new ProfileSteps(more);
  }

  /** Whether it is one of the steps. */
  public boolean has(String name) {
    return name.equals(REST) || steps.stream().anyMatch(step -> step.name().equals(name));
  }

  /** The prefixes of methods that identify steps, with their packages. */
  public List<String> methods() {
    return steps.stream().flatMap(step -> step.methods().stream()).toList();
  }

  /** The step of a stack, innermost method first. */
  public String of(List<String> stack) {
    return steps.stream().filter(step -> step.isIn(stack)).map(Step::name).findFirst().orElse(REST);
  }

  /**
   * The number of samples in each step; steps without samples are missing. Not for several threads.
   */
  public final class Shares {
    private final Map<String, Integer> counts = new LinkedHashMap<>();
    private int all;

    /** Counts a sample. */
    public void add(List<String> stack) {
      counts.merge(ProfileSteps.this.of(stack), 1, Integer::sum);
      all++;
    }

    public int samples() {
      return all;
    }

    /** Whether there is such a step. */
    public boolean has(String step) {
      return ProfileSteps.this.has(step);
    }

    /** The part of all samples that a step had, 0 to 1. */
    public double of(String step) {
      return all == 0 ? 0 : (double) counts.getOrDefault(step, 0) / all;
    }
  }
}
