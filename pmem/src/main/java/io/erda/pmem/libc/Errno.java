package io.erda.pmem.libc;

import java.util.Arrays;

/**
 * The errors of the kernel: number, name and words. The numbers are those of Linux's {@code
 * asm-generic/errno.h}, which x86-64, Arm, RISC-V, POWER and z/Architecture share.
 */
public enum Errno {
  EPERM(1, "Operation not permitted"),
  ENOENT(2, "No such file or directory"),
  EINTR(4, "Interrupted system call"),
  EIO(5, "Input/output error"),
  ENXIO(6, "No such device or address"),
  EBADF(9, "Bad file descriptor"),
  EAGAIN(11, "Resource temporarily unavailable"),
  ENOMEM(12, "Cannot allocate memory"),
  EACCES(13, "Permission denied"),
  EFAULT(14, "Bad address"),
  EBUSY(16, "Device or resource busy"),
  EEXIST(17, "File exists"),
  EXDEV(18, "Invalid cross-device link"),
  ENODEV(19, "No such device"),
  ENOTDIR(20, "Not a directory"),
  EISDIR(21, "Is a directory"),
  EINVAL(22, "Invalid argument"),
  ENFILE(23, "Too many open files in system"),
  EMFILE(24, "Too many open files"),
  ENOTTY(25, "Inappropriate ioctl for device"),
  ETXTBSY(26, "Text file busy"),
  EFBIG(27, "File too large"),
  ENOSPC(28, "No space left on device"),
  EROFS(30, "Read-only file system"),
  EMLINK(31, "Too many links"),
  EPIPE(32, "Broken pipe"),
  ERANGE(34, "Numerical result out of range"),
  ENAMETOOLONG(36, "File name too long"),
  ENOLCK(37, "No locks available"),
  ENOSYS(38, "Function not implemented"),
  ENOTEMPTY(39, "Directory not empty"),
  ELOOP(40, "Too many levels of symbolic links"),
  EOVERFLOW(75, "Value too large for defined data type"),
  EPROTONOSUPPORT(93, "Protocol not supported"),
  EOPNOTSUPP(95, "Operation not supported"),
  EAFNOSUPPORT(97, "Address family not supported by protocol"),
  EADDRINUSE(98, "Address already in use"),
  EADDRNOTAVAIL(99, "Cannot assign requested address"),
  ENETDOWN(100, "Network is down"),
  ENETUNREACH(101, "Network is unreachable"),
  ECONNRESET(104, "Connection reset by peer"),
  ENOBUFS(105, "No buffer space available"),
  EISCONN(106, "Transport endpoint is already connected"),
  ENOTCONN(107, "Transport endpoint is not connected"),
  ESHUTDOWN(108, "Cannot send after transport endpoint shutdown"),
  ETIMEDOUT(110, "Connection timed out"),
  ECONNREFUSED(111, "Connection refused"),
  EHOSTUNREACH(113, "No route to host"),
  ESTALE(116, "Stale file handle"),
  EUCLEAN(117, "Structure needs cleaning"),
  EREMOTEIO(121, "Remote I/O error"),
  EDQUOT(122, "Disk quota exceeded"),
  /** Any other number; {@link #inWords} gets its words from the C library. */
  OTHER(0, "unknown error");

  private static final Errno[] BY_NUMBER = byNumber();

  private final int number;
  private final String words;

  Errno(int number, String words) {
    this.number = number;
    this.words = words;
  }

  private static Errno[] byNumber() {
    Errno[] all = new Errno[EDQUOT.number + 1];
    Arrays.fill(all, OTHER);
    for (Errno each : values()) {
      assert all[each.number] == OTHER : each + " and " + all[each.number] + " share a number";
      all[each.number] = each;
    }
    return all;
  }

  /** Returns the error with this number; {@link #OTHER} for a number that has no constant. */
  public static Errno of(int number) {
    return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : OTHER;
  }

  /**
   * Returns the error that a call of {@link Libc} ended with; {@link #OTHER} where it succeeded.
   */
  public static Errno ofResult(long result) {
    return result < 0 && result > -BY_NUMBER.length ? of((int) -result) : OTHER;
  }

  /** The number, as the kernel has it. */
  public int number() {
    return number;
  }

  /** The C library's words for it. */
  public String words() {
    return words;
  }

  /** The result of a call of {@link Libc} that ends with this error. */
  public int result() {
    return -number;
  }

  /** Whether a call ended with this error. */
  public boolean is(long result) {
    return result == -number && number != 0;
  }

  /** Says that a call ended with an error: the call, the error in words, and its number. */
  public static String inWords(String call, int number) {
    Errno known = of(number);
    String words = known == OTHER ? Libc.words(number) : known.words;
    return call + ": " + words + " (errno " + number + ")";
  }
}
