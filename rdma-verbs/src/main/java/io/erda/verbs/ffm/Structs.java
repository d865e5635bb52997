package io.erda.verbs.ffm;

/**
 * Offsets in the structs of libibverbs and librdmacm, bytes, on 64-bit machines. The same from
 * rdma-core 44 on. They are checked when structs are used: {@link Libibverbs.Operations}, {@link
 * Pointers}, {@link LayoutCheck}.
 */
final class Structs {
  /** struct ibv_context. */
  static final class Context {
    static final int DEVICE = 0;
    static final int POLL_CQ = 96;
    static final int REQ_NOTIFY_CQ = 104;
    static final int POST_SEND = 208;
    static final int POST_RECV = 216;
    static final int CMD_FD = 264;
    static final int ASYNC_FD = 268;
    static final int NUM_COMP_VECTORS = 272;
    static final int ABI_COMPAT = 320;
    static final int BYTES = 328;

    private Context() {}
  }

  /**
   * struct verbs_context, from the ibv_context at its end. It grows at its beginning, and its size
   * says how far.
   */
  static final class Extended {
    static final int SIZE = -8;
    static final int CREATE_QP_EX = -56;
    static final int QUERY_DEVICE_EX = -104;

    private Extended() {}
  }

  /** struct ibv_device_attr_ex, with struct ibv_device_attr at its beginning. */
  static final class DeviceAttr {
    static final int CAP_FLAGS = 116;
    static final int ODP_GENERAL = 240;
    static final int ODP_RC = 248;
    static final int CAP_FLAGS_EX = 280;

    /** Up to the last field that is used. */
    static final int BYTES = 288;

    private DeviceAttr() {}
  }

  /** struct ibv_qp. */
  static final class Qp {
    static final int CONTEXT = 0;
    static final int PD = 16;
    static final int SEND_CQ = 24;
    static final int RECV_CQ = 32;
    static final int QP_NUM = 52;
    static final int STATE = 56;
    static final int TYPE = 60;

    private Qp() {}
  }

  /** struct ibv_qp_init_attr, with struct ibv_qp_cap in it. */
  static final class QpInit {
    static final int BYTES = 64;
    static final int SEND_CQ = 8;
    static final int RECV_CQ = 16;
    static final int MAX_SEND_WR = 32;
    static final int MAX_RECV_WR = 36;
    static final int MAX_SEND_SGE = 40;
    static final int MAX_RECV_SGE = 44;
    static final int MAX_INLINE = 48;
    static final int TYPE = 52;
    static final int SIGNAL_ALL = 56;

    private QpInit() {}
  }

  /** The fields of struct ibv_qp_init_attr_ex behind struct ibv_qp_init_attr. */
  static final class QpInitEx {
    static final int COMP_MASK = 60;
    static final int PD = 64;
    static final int SEND_OPS = 128;

    private QpInitEx() {}
  }

  /**
   * struct ibv_qp_ex, with struct ibv_qp at its beginning. In rdma-core 44 it ends before WR_FLUSH.
   */
  static final class QpEx {
    static final int WR_ID = 168;
    static final int WR_FLAGS = 176;
    static final int WR_START = 320;
    static final int WR_COMPLETE = 328;
    static final int WR_ATOMIC_WRITE = 344;
    static final int WR_FLUSH = 352;

    private QpEx() {}
  }

  /** struct ibv_qp_attr. */
  static final class QpAttr {
    static final int BYTES = 144;
    static final int STATE = 0;
    static final int RQ_PSN = 20;
    static final int SQ_PSN = 24;
    static final int DEST_QP_NUM = 28;
    static final int ACCESS_FLAGS = 32;
    static final int PORT_NUM = 129;

    private QpAttr() {}
  }

  /** struct ibv_mr. */
  static final class Mr {
    static final int CONTEXT = 0;
    static final int PD = 8;
    static final int ADDR = 16;
    static final int LENGTH = 24;
    static final int LKEY = 36;
    static final int RKEY = 40;

    private Mr() {}
  }

  /** struct ibv_sge. */
  static final class Sge {
    static final int BYTES = 16;
    static final int ADDR = 0;
    static final int LENGTH = 8;
    static final int LKEY = 12;

    private Sge() {}
  }

  /** struct ibv_send_wr. */
  static final class SendWr {
    static final int BYTES = 128;
    static final int WR_ID = 0;
    static final int NEXT = 8;
    static final int SG_LIST = 16;
    static final int NUM_SGE = 24;
    static final int OPCODE = 28;
    static final int SEND_FLAGS = 32;
    static final int IMM_DATA = 36;
    static final int REMOTE_ADDR = 40;
    static final int RKEY = 48;
    static final int COMPARE_ADD = 48;
    static final int SWAP = 56;
    static final int ATOMIC_RKEY = 64;

    private SendWr() {}
  }

  /** struct ibv_recv_wr. */
  static final class RecvWr {
    static final int BYTES = 32;
    static final int WR_ID = 0;
    static final int NEXT = 8;
    static final int SG_LIST = 16;
    static final int NUM_SGE = 24;

    private RecvWr() {}
  }

  /** struct ibv_wc. */
  static final class Wc {
    static final int BYTES = 48;
    static final int WR_ID = 0;
    static final int STATUS = 8;
    static final int OPCODE = 12;
    static final int VENDOR_ERR = 16;
    static final int BYTE_LEN = 20;
    static final int IMM_DATA = 24;
    static final int QP_NUM = 28;

    private Wc() {}
  }

  /** struct ibv_pd, struct ibv_cq. */
  static final class Owned {
    static final int CONTEXT = 0;
    static final int CHANNEL = 8;

    private Owned() {}
  }

  /** struct ibv_comp_channel, struct rdma_event_channel. */
  static final class Channel {
    static final int COMP_CONTEXT = 0;
    static final int COMP_FD = 8;
    static final int EVENT_FD = 0;

    private Channel() {}
  }

  /** struct rdma_cm_id. */
  static final class CmId {
    static final int VERBS = 0;
    static final int CHANNEL = 8;
    static final int QP = 24;
    static final int SRC_ADDR = 32;
    static final int DST_ADDR = 160;
    static final int PS = 344;

    private CmId() {}
  }

  /** struct rdma_cm_event. */
  static final class CmEvent {
    static final int BYTES = 80;
    static final int ID = 0;
    static final int LISTEN_ID = 8;
    static final int EVENT = 16;
    static final int STATUS = 20;
    static final int CONN_PARAM = 24;

    private CmEvent() {}
  }

  /** struct rdma_conn_param. */
  static final class ConnParam {
    static final int BYTES = 24;
    static final int PRIVATE_DATA = 0;
    static final int PRIVATE_DATA_LEN = 8;
    static final int RESPONDER_RESOURCES = 9;
    static final int INITIATOR_DEPTH = 10;
    static final int FLOW_CONTROL = 11;
    static final int RETRY_COUNT = 12;
    static final int RNR_RETRY_COUNT = 13;

    private ConnParam() {}
  }

  private Structs() {}
}
