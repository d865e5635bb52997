package io.erda.eval.baselines;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** If a method was renamed or called differently its step would be empty without notice. */
class UpdateStepsTest {
  @Test
  void everyMethodOfAStepIsThere() {
    List<String> missing =
        Arrays.stream(Scheme.values())
            .flatMap(
                scheme -> Stream.of(UpdateSteps.ofClient(scheme), UpdateSteps.ofServer(scheme)))
            .flatMap(steps -> steps.methods().stream())
            .filter(method -> !isThere(method))
            .toList();
    assertTrue(missing.isEmpty(), missing.toString());
  }

  /** Whether a class has a method that begins so, or its name alone is given. */
  private static boolean isThere(String method) {
    if (find(method) != null) {
      return true;
    }
    int end = method.lastIndexOf('.');
    Class<?> type = find(method.substring(0, end));
    String start = method.substring(end + 1);
    return type != null
        && Arrays.stream(type.getDeclaredMethods())
            .anyMatch(each -> each.getName().startsWith(start));
  }

  private static Class<?> find(String name) {
    try {
      return Class.forName(name, false, UpdateStepsTest.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      return null;
    }
  }
}
