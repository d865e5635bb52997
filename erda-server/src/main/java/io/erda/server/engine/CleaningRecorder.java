package io.erda.server.engine;

import io.erda.cleaner.Cleaner;
import io.erda.logstore.Region;

/** Records cleanings for JFR: nothing is looked at unless somebody records. */
final class CleaningRecorder implements Cleaner.Listener {
  private CleaningEvent event;

  @Override
  public void began(Region victim) {
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
  }
}
