package io.erda.client.files;

/** A store can't be read from its files now. Has the status of the connection, and a text. */
final class NotReadable extends Exception {
  private static final long serialVersionUID = 1L;

  /** One of {@link io.erda.rdma.Status}. */
  final int status;

  NotReadable(int status, String why) {
    super(why, null, false, false);
    this.status = status;
  }
}
