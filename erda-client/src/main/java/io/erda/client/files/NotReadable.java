package io.erda.client.files;

/** Why a store can't be read from outside now: a connection's status, and a text. */
final class NotReadable extends Exception {
  private static final long serialVersionUID = 1L;

  /** One of {@link io.erda.rdma.Status}. */
  final int status;

  NotReadable(int status, String why) {
    super(why, null, false, false);
    this.status = status;
  }
}
