package io.erda.server.engine.events;

/** Passes events on to a listener, which ignores them until another one is set. One thread. */
public final class ToldService {
  private ServiceListener listener = ServiceListener.NONE;

  public void to(ServiceListener wanted) {
    listener = wanted;
  }

  public ServiceListener listener() {
    return listener;
  }
}
