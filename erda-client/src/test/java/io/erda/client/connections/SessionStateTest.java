package io.erda.client.connections;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.rdma.Claims;
import io.erda.rdma.QueuePair;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

/** A client that has no memory ends a connection in the middle of a step, and goes on with it. */
class SessionStateTest {
  /** Claims nothing. Withdrawing fails as often as it was told to. */
  private static final class FailingClaims implements Claims {
    private int failures = 1;
    private boolean withdrawn;

    @Override
    public void withdraw() {
      if (failures-- > 0) {
        throw new OutOfMemoryError("as a test wants it");
      }
      withdrawn = true;
    }

    @Override
    public long claimed() {
      return withdrawn ? 0 : Long.MAX_VALUE;
    }
  }

  private final FailingClaims claims = new FailingClaims();
  private final SessionState state = readyState();

  private SessionState readyState() {
    QueuePair queuePair =
        (QueuePair)
            Proxy.newProxyInstance(
                QueuePair.class.getClassLoader(),
                new Class<?>[] {QueuePair.class},
                (proxy, method, arguments) -> {
                  assert method.getName().equals("claims") : method;
                  return claims;
                });
    ClientContext context =
        new ClientContext(
            null,
            "a test",
            ClientOptions.DEFAULT,
            System::nanoTime,
            1,
            null,
            new KnownStore(),
            null,
            null,
            new Counts(),
            new Attention(),
            null);
    SessionState ready = new SessionState(context, queuePair, true);
    ready.welcomed();
    ready.mapped();
    return ready;
  }

  /**
   * Its requests had no withdrawal then, and {@code close()} of the client ended with a
   * NullPointerException.
   */
  @Test
  void aConnectionThatCouldNotWithdrawDoesSoWhenItIsAskedAboutItsRequests() {
    assertThrows(OutOfMemoryError.class, () -> state.leave("its time-out has passed"));
    state.leave("the client was closed");
    assertTrue(state.isOver());
    assertTrue(state.withdrawal().neverTaken(1));
  }

  @Test
  void aConnectionThatFailsMidwayFailsWhenItIsToldAgain() {
    assertThrows(OutOfMemoryError.class, () -> state.fail("a test wants it"));
    assertFalse(state.isFailed());
    state.fail("a test wants it again");
    assertTrue(state.isFailed());
    assertTrue(state.withdrawal().neverTaken(1));
  }
}
