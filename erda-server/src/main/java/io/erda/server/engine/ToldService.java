package io.erda.server.engine;

/** Passes on what happens to whoever wants to know it: nobody, until that is set. One thread. */
final class ToldService {
  private ServiceListener listener = ServiceListener.NONE;

  void to(ServiceListener wanted) {
    listener = wanted;
  }

  ServiceListener listener() {
    return listener;
  }
}
