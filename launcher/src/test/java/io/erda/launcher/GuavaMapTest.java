package io.erda.launcher;

import com.google.common.collect.testing.ConcurrentMapTestSuiteBuilder;
import com.google.common.collect.testing.TestStringMapGenerator;
import com.google.common.collect.testing.features.CollectionFeature;
import com.google.common.collect.testing.features.CollectionSize;
import com.google.common.collect.testing.features.MapFeature;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import io.erda.client.ErdaMap;
import io.erda.client.Serializer;
import io.erda.server.ErdaServer;
import io.erda.server.ErdaStore;
import io.erda.server.Listening;
import io.erda.server.ServerOptions;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import junit.framework.Test;
import junit.framework.TestFailure;
import junit.framework.TestResult;
import junit.framework.TestSuite;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Guava's tests for implementations of {@code ConcurrentMap}, over each device. They are written
 * for JUnit 3; each of them is a dynamic test here.
 */
@Tag("long")
class GuavaMapTest {
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(1 << 22)
          .withSegmentBytes(1 << 20)
          .withCapacityBytes(1 << 26)
          .withBuckets(1 << 12);

  @TempDir Path data;

  @TestFactory
  Stream<DynamicNode> embedded() {
    ErdaStore store = ErdaStore.open(data, SMALL);
    return tests("embedded", store::client, store::close);
  }

  @TestFactory
  Stream<DynamicNode> overSharedMemory() {
    ErdaServer server = ErdaServer.start(data, SMALL);
    return tests("shm", () -> ErdaClient.connect(server.uri()), server::close);
  }

  @TestFactory
  Stream<DynamicNode> overTcp() {
    ErdaServer server =
        ErdaServer.start(data, SMALL.withListening(List.of(Listening.tcp("127.0.0.1:0"))));
    return tests("tcp", () -> ErdaClient.connect(server.uris().get(1)), server::close);
  }

  /** The store is opened now, and closed when the last test has ended. */
  private static Stream<DynamicNode> tests(
      String device, Supplier<ErdaClient> connect, Runnable close) {
    ErdaClientPool pool = new ErdaClientPool(connect, 1, ErdaClientPool.BORROW_TIMEOUT);
    TestSuite suite =
        ConcurrentMapTestSuiteBuilder.using(new Maps(pool))
            .named("ErdaMap, " + device)
            .withFeatures(
                MapFeature.GENERAL_PURPOSE,
                CollectionFeature.SUPPORTS_ITERATOR_REMOVE,
                CollectionSize.ANY)
            .createTestSuite();
    return Stream.of(node(suite))
        .onClose(() -> {
          pool.close();
          close.run();
        });
  }

  /** There is one store, which each new map empties. */
  private static final class Maps extends TestStringMapGenerator {
    private final ErdaClientPool pool;

    Maps(ErdaClientPool pool) {
      this.pool = pool;
    }

    @Override
    protected Map<String, String> create(Map.Entry<String, String>[] entries) {
      Map<String, String> map = ErdaMap.over(pool, Serializer.utf8(), Serializer.utf8());
      map.clear();
      for (Map.Entry<String, String> each : entries) {
        map.put(each.getKey(), each.getValue());
      }
      return map;
    }
  }

  private static DynamicNode node(Test test) {
    if (test instanceof TestSuite suite) {
      return DynamicContainer.dynamicContainer(
          suite.getName(), Collections.list(suite.tests()).stream().map(GuavaMapTest::node));
    }
    return DynamicTest.dynamicTest(test.toString(), () -> run(test));
  }

  private static void run(Test test) throws Throwable {
    TestResult result = new TestResult();
    test.run(result);
    for (TestFailure each : Collections.list(result.failures())) {
      throw each.thrownException();
    }
    for (TestFailure each : Collections.list(result.errors())) {
      throw each.thrownException();
    }
  }
}
