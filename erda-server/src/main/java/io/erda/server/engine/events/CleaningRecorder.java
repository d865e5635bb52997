package io.erda.server.engine.events;

import io.erda.cleaner.Cleaner;
import io.erda.logstore.Region;
import java.util.function.LongSupplier;

/**
 * Records cleanings for JFR while a recording runs, and passes them on to a listener. One thread.
 */
public final class CleaningRecorder implements Cleaner.Listener {
  private final ServiceListener told;
  private final LongSupplier nanoTime;
  private CleaningEvent event;
  private long begunNs;

  public CleaningRecorder(ServiceListener told, LongSupplier nanoTime) {
    this.told = told;
    this.nanoTime = nanoTime;
  }

  @Override
  public void began(Region victim) {
    begunNs = nanoTime.getAsLong();
    event = Events.begin(CleaningEvent::new);
  }

  @Override
  public void ended(Cleaner.Ended ended) {
    if (Events.wanted(event)) {
      event.head = ended.victim().head();
      event.region = ended.victim().index();
      event.generation = ended.victim().generation();
      event.freed = ended.freed();
      event.bytesLive = ended.bytesLive();
      event.bytesCopied = ended.bytesCopied();
      event.rounds = ended.rounds();
      event.commit();
    }
    event = null;
    told.cleaned(
        ended.victim().head(),
        ended.victim().index(),
        ended.freed(),
        ended.bytesLive(),
        ended.bytesCopied(),
        nanoTime.getAsLong() - begunNs);
  }
}
