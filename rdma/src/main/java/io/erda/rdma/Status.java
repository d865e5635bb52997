package io.erda.rdma;

/** The result of posted work, or of an attempt to connect. */
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

  /**
   * The peer has fenced this queue pair. A WRITE may have changed memory, but counts as not done.
   */
  public static final int FENCED = 3;

  /** A received message is longer than the receive buffer. */
  public static final int LENGTH = 4;

  public static final int REJECTED = 5;
  public static final int UNREACHABLE = 6;
  public static final int TIMEOUT = 7;

  /** The local memory or the device failed. */
  public static final int LOCAL = 8;

  /** The user of this process has no permission to use the address. */
  public static final int DENIED = 9;

  /**
   * The disk has no space for the files of a connection, and the other side has no spare file; or
   * the disk has no space for a page of the peer's memory, and {@link QueuePair#lostRegion} names
   * the region.
   */
  public static final int NO_SPACE = 10;

  /** An application has the store at the address open for itself, and serves no other process. */
  public static final int TAKEN = 11;

  /** The peer named a file that it may not name: a link, or another user's file. */
  public static final int UNTRUSTED = 12;

  /**
   * Pages of the peer's memory are missing, because its file was shortened, or the file system
   * failed. {@link QueuePair#lostRegion} describes it. A part of a WRITE may have been stored.
   */
  public static final int MEMORY_LOST = 13;

  /** The two ends do not have the same secret. */
  public static final int SECRET = 14;

  /** The other end uses another version of the protocol, or another protocol. */
  public static final int INCOMPATIBLE = 15;

  /**
   * The device does not support the operation; see {@link Device#flushes()} and {@link
   * Device#readsOnly()}.
   */
  public static final int UNSUPPORTED = 16;

  /** There is no store at the address. */
  public static final int ABSENT = 17;

  /**
   * The store at the address was not recovered since the machine was started, or since files of it
   * were replaced under its server. A server must first decide the puts that a power failure
   * interrupted.
   */
  public static final int UNRECOVERED = 18;

  /** One end encrypts and the other does not, or one end could not authenticate the other. */
  public static final int ENCRYPTION = 19;

  /**
   * The file system for the files of a connection takes no files, because it failed or is
   * read-only.
   */
  public static final int UNWRITABLE = 20;

  /**
   * A file of the peer exists, but can't be opened or mapped now; it may be undamaged. {@link
   * QueuePair#lostRegion} names the file and the error.
   */
  public static final int UNREADABLE = 21;

  /** This process, which had the store at the address open, has closed it. */
  public static final int CLOSED = 22;

  /**
   * The other end took the connection, and ended it before it answered; another attempt may
   * succeed.
   */
  public static final int TURNED_AWAY = 23;

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
              + " cleanly before, or files of it were replaced under its server; a server has to"
              + " recover it first";
      case ENCRYPTION -> "the two ends do not agree on encryption";
      case UNWRITABLE -> "its file system takes no new file";
      case UNREADABLE -> "a file there can't be read now";
      case CLOSED -> "the store was closed";
      case TURNED_AWAY -> "the other end took the connection and ended it without an answer";
      default -> "status " + status;
    };
  }

  private Status() {}
}
