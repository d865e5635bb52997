package io.erda.server.engine.events;

/** Passes on what happens to whoever wants to know it: nobody, until that is set. One thread. */
public final class ToldService {
  private ServiceListener listener = ServiceListener.NONE;

  public void to(ServiceListener wanted) {
    listener = wanted;
  }

  public ServiceListener listener() {
    return listener;
  }
}
