package io.erda.testbed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class LedgerTest {
  private final Ledger ledger = new Ledger();

  @Test
  void whatWasAcknowledgedWithThePromiseMustBeThere() {
    tell("serving /store/data at erda+shm:/store/data (promise: power)", "@ P 1 POWER");
    tell("@ A 1 100003 7", "@ A 1 100003 9", "@ A 1 100004 8");

    assertEquals(Map.of(100_003, 9L, 100_004, 8L), ledger.claim().versions());
    assertTrue(ledger.claim().power());
  }

  @Test
  void whatWasAcknowledgedWithoutMayGoWithThePower() {
    tell("serving /store/data at erda+shm:/store/data (promise: process)", "@ P 1 PROCESS");
    tell("@ A 1 100003 7");

    assertEquals(Map.of(), ledger.claim().versions());
    assertFalse(ledger.claim().power());
    ledger.powerFailed();
    tell("@ S POWER");
    assertEquals(Map.of(), ledger.claim().versions());
  }

  @Test
  void whoOpensWithThePromisePromisesWhatIsThere() {
    tell("@ S PROCESS", "@ P 1 PROCESS", "@ A 1 100003 7");
    tell("@ S POWER");

    assertEquals(Map.of(100_003, 7L), ledger.claim().versions());
    assertTrue(ledger.claim().power());
  }

  @Test
  void aClaimIsOfItsMoment() {
    tell("@ S POWER", "@ P 1 POWER", "@ A 1 100003 7");
    Ledger.Claim claim = ledger.claim();
    tell("@ A 1 100003 8");

    assertEquals(Map.of(100_003, 7L), claim.versions());
  }

  @Test
  void damageInARunningStoreIsTold() {
    tell("@ D 100003 nothing was promised yet", "@ S POWER");
    tell("@ D 100003 damaged", "@ F the server is not there");

    assertEquals(List.of("@ D 100003 damaged"), ledger.takeTrouble());
    assertEquals(List.of(), ledger.takeTrouble());
  }

  private void tell(String... lines) {
    List.of(lines).forEach(ledger::line);
  }
}
