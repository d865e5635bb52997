package io.erda.rdma;

/** How posted work ended. */
public final class Status {
  public static final int SUCCESS = 0;

  /**
   * The queue pair was closed, or its connection ended, before the work completed; the work may
   * have taken effect or not.
   */
  public static final int FLUSHED = 1;

  /**
   * The remote key is unknown or revoked, the range is out of its bounds, or the access is not
   * allowed.
   */
  public static final int REMOTE_ACCESS = 2;

  /** The peer fenced this queue pair: a WRITE may have taken effect, and counts as not done. */
  public static final int FENCED = 3;

  /** A received message is longer than the receive buffer. */
  public static final int LENGTH = 4;

  public static final int REJECTED = 5;
  public static final int UNREACHABLE = 6;
  public static final int TIMEOUT = 7;

  /** The local memory or the device failed. */
  public static final int LOCAL = 8;

  /** The user of this process may not use the address. */
  public static final int DENIED = 9;

  /**
   * The disk has no space for the files of a connection, and the other side has no spare file; or
   * the disk has no space for a page of the peer's memory, and {@link QueuePair#lostRegion} names
   * the region.
   */
  public static final int NO_SPACE = 10;

  /** An application has the address's store open for itself, and serves nobody. */
  public static final int TAKEN = 11;

  /** A file of the peer is one that it may not name: a link, or another user's. */
  public static final int UNTRUSTED = 12;

  /**
   * The peer's memory is not there: its file was shortened, or the file system failed. {@link
   * QueuePair#lostRegion} says which. Part of a WRITE may have been stored.
   */
  public static final int MEMORY_LOST = 13;

  /** The two ends do not have the same secret. */
  public static final int SECRET = 14;

  /** The other end speaks another version, or another protocol. */
  public static final int INCOMPATIBLE = 15;

  /** The device has no such operation: it says so before ({@link Device#flushes()}). */
  public static final int UNSUPPORTED = 16;

  /** There is no store at the address. */
  public static final int ABSENT = 17;

  /**
   * The store at the address was not recovered since the machine was started: a server has to
   * decide first about the puts that a power failure interrupted.
   */
  public static final int UNRECOVERED = 18;

  /** One end encrypts and the other does not, or one could not authenticate the other. */
  public static final int ENCRYPTION = 19;

  /** The file system for the files of a connection takes none: it failed, or is read-only. */
  public static final int UNWRITABLE = 20;

  /**
   * A file of the peer exists and can't be opened or mapped now; it may be sound. {@link
   * QueuePair#lostRegion} says which, and why.
   */
  public static final int UNREADABLE = 21;

  /** The store at the address was closed, by this process, which has it open. */
  public static final int CLOSED = 22;

  /** The status in words, for messages. */
  public static String name(int status) {
    return switch (status) {
      case SUCCESS -> "success";
      case FLUSHED -> "flushed";
      case REMOTE_ACCESS -> "remote access error";
      case FENCED -> "fenced";
      case LENGTH -> "length error";
      case REJECTED -> "rejected";
      case UNREACHABLE -> "unreachable";
      case TIMEOUT -> "timeout";
      case LOCAL -> "local error";
      case DENIED -> "permission denied";
      case NO_SPACE -> "no space left on the device";
      case TAKEN -> "open in an application, which serves nobody";
      case UNTRUSTED ->
          "a file there is a symbolic link, no file, or another user's than the server";
      case MEMORY_LOST -> "the file of the peer's memory was shortened, or its file system failed";
      case SECRET -> "the two ends do not have the same secret";
      case INCOMPATIBLE -> "the other end speaks another version, or another protocol";
      case UNSUPPORTED -> "the device has no such operation";
      case ABSENT -> "there is no store";
      case UNRECOVERED ->
          "no server has opened the store since this machine was started, and none stopped it"
              + " cleanly before; a server has to recover it first";
      case ENCRYPTION -> "the two ends do not agree on encryption";
      case UNWRITABLE -> "its file system takes no new file";
      case UNREADABLE -> "a file there can't be read now";
      case CLOSED -> "the store was closed";
      default -> "status " + status;
    };
  }

  private Status() {}
}
