package io.erda.client.operations;

import io.erda.client.OperationHandler;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.Refusals;
import io.erda.client.connections.Requests;
import io.erda.client.connections.Session;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Requests the server's figures, page by page, optionally after a request to clean. Allocates
 * memory; not for hot paths.
 */
public final class StatsQuery extends Operation {
  private static final int FIGURES_MAX = 65536;
  private static final int NOTHING = -2;

  public Map<String, Long> figures;
  private int next;

  /** The head that the server is first asked to clean; −1 for all. */
  private int clean;

  public StatsQuery(ClientContext context, Connections connections, Outcomes outcomes, int slot) {
    super(context, connections, outcomes, slot);
  }

  public void begin() {
    begin(NOTHING);
  }

  /** Begins by asking the server to clean a head, −1 for all. */
  public void beginCleaning(int head) {
    begin(head);
  }

  private void begin(int head) {
    clean = head;
    open();
    needsServer = true;
    restart();
  }

  @Override
  public boolean hasSession() {
    return connections.serverSession() != null;
  }

  @Override
  public void restart() {
    Session usable = connections.serverSession();
    if (usable == null) {
      awaitSession();
      return;
    }
    session = usable;
    figures = new LinkedHashMap<>();
    next = 0;
    step = clean == NOTHING ? Step.POST_STATS : Step.POST_CLEAN;
    resume();
  }

  private void postClean() {
    Requests requests = session.requests;
    long base = requests.at(slot);
    Message.putInt(requests.memory, base + Message.CLEAN_HEAD, clean);
    Message.putInt(requests.memory, base + Message.CLEAN_HEAD + 4, 0);
    if (requests.send(slot, Message.CLEAN, Message.CLEAN_REQUEST_BYTES)) {
      step = Step.ASKED;
    } else {
      stall();
    }
  }

  @Override
  public void resume() {
    stalled = false;
    if (step == Step.POST_CLEAN) {
      postClean();
      return;
    }
    step = Step.POST_STATS;
    Requests requests = session.requests;
    long base = requests.at(slot);
    Message.putInt(requests.memory, base + Message.STATS_FROM, next);
    Message.putInt(requests.memory, base + Message.STATS_FROM + 4, 0);
    if (requests.send(slot, Message.STATS, Message.STATS_REQUEST_BYTES)) {
      step = Step.ASKED;
    } else {
      stall();
    }
  }

  @Override
  public void onResponse(int type, int result, MemorySegment memory, long base, int length) {
    if (result != Result.OK) {
      fail(Refusals.of(describe(), result, session.requests.reason()));
      return;
    }
    if (type == Message.CLEAN) {
      step = Step.POST_STATS;
      resume();
      return;
    }
    int all = Message.getInt(memory, base + Message.STATS_FIGURES);
    int first = Message.getInt(memory, base + Message.STATS_FIRST);
    int count = Message.getInt(memory, base + Message.STATS_COUNT);
    boolean sound =
        all >= 0
            && all <= FIGURES_MAX
            && first == next
            && count >= 0
            && first + (long) count <= all
            && (count > 0 || first == all);
    if (!sound || !take(memory, base, count, length)) {
      session.fail(
          "the server sent figures "
              + first
              + " to "
              + (first + (long) count)
              + " of "
              + all
              + " in "
              + length
              + " bytes, expected from "
              + next);
      return;
    }
    next += count;
    if (next < all) {
      resume();
    } else {
      finish();
    }
  }

  private boolean take(MemorySegment memory, long base, int count, int length) {
    long at = base + Message.STATS_FIGURES_AT;
    long end = base + length;
    for (int i = 0; i < count; i++) {
      if (end - at < Long.BYTES + 1) {
        return false;
      }
      long value = Message.getLong(memory, at);
      int nameLength = memory.get(ValueLayout.JAVA_BYTE, at + Long.BYTES) & 0xFF;
      at += Long.BYTES + 1;
      if (end - at < nameLength) {
        return false;
      }
      byte[] name = memory.asSlice(at, nameLength).toArray(ValueLayout.JAVA_BYTE);
      figures.put(new String(name, StandardCharsets.UTF_8), value);
      at += nameLength;
    }
    return true;
  }

  @Override
  public String describe() {
    return clean == NOTHING ? "statistics" : "cleaning";
  }

  @Override
  protected void deliver(OperationHandler handler) {
    throw new IllegalStateException("statistics are asked for by blocking clients");
  }
}
