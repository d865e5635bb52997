package io.erda.verbs;

/** Events of the connection manager: enum rdma_cm_event_type. */
final class CmEvents {
  static final int ADDR_RESOLVED = 0;
  static final int ADDR_ERROR = 1;
  static final int ROUTE_RESOLVED = 2;
  static final int ROUTE_ERROR = 3;
  static final int CONNECT_REQUEST = 4;
  static final int CONNECT_ERROR = 6;
  static final int UNREACHABLE = 7;
  static final int REJECTED = 8;
  static final int ESTABLISHED = 9;
  static final int DISCONNECTED = 10;
  static final int DEVICE_REMOVAL = 11;

  /** IB_CM_REJ_INVALID_SERVICE_ID. */
  private static final int NO_SUCH_SERVICE = 8;

  /** IB_CM_REJ_CONSUMER_DEFINED. */
  private static final int REFUSED = 28;

  static boolean isFailure(int event) {
    return switch (event) {
      case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED, DEVICE_REMOVAL -> true;
      default -> false;
    };
  }

  /**
   * Returns a failure in words, for a user.
   *
   * @param status a negated errno, or a positive reason of the connection manager
   */
  static String text(int event, int status) {
    String text =
        switch (event) {
          case ADDR_ERROR ->
              "no RDMA device has a way there, or nobody has that address (compare ip route, ip"
                  + " neighbour and rdma link)";
          case ROUTE_ERROR -> "there is no route";
          case UNREACHABLE -> "nobody answers";
          case REJECTED ->
              switch (status) {
                case NO_SUCH_SERVICE -> "nobody listens there";
                case REFUSED ->
                    "a program listens at that port, and at another address, or it has no memory"
                        + " or queue pair for one more connection";
                default -> "the other end refuses";
              };
          case DEVICE_REMOVAL -> "the RDMA device was removed";
          default -> "connecting failed";
        };
    return text + " (status " + status + ")";
  }

  private CmEvents() {}
}
