package io.erda.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.UUID;

/**
 * The private data of a connection: {@link Hello} from the client, {@link Welcome} or {@link
 * Refusal} from the server. Little-endian, with fields at fixed offsets. All begin with magic,
 * protocol version and layout version, so that ends of different versions can recognise each other.
 */
public final class Handshake {
  /** "ERDA". */
  public static final int MAGIC = 0x4144_5245;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int KIND_HELLO = 1;
  private static final int KIND_WELCOME = 2;
  private static final int KIND_REFUSAL = 3;

  private static final int HELLO_BYTES = 48;
  private static final int WELCOME_BYTES = 128;
  private static final int REFUSAL_TEXT_OFFSET = 20;
  private static final int REFUSAL_TEXT_MAX = 160;

  /**
   * The client's request.
   *
   * <pre>
   *   0  magic 4 | 4  protocol version 4 | 8  layout version 4 | 12  kind = 1 4 | 16  promise required 4, -1 = any | 20  zero 4
   *  24  process ID 8 | 32  store UUID required 16, zero = any
   * </pre>
   *
   * @param required the weakest promise that the client accepts, or null for any
   * @param store the identity that the store must have, or null for any
   */
  public record Hello(
      int protocolVersion, int layoutVersion, Promise required, long processId, UUID store) {}

  /**
   * The server's acceptance; {@link WelcomeBuilder} makes one.
   *
   * <pre>
   *   0  magic 4 | 4  protocol version 4 | 8  layout version 4 | 12  kind = 2 4 | 16  store UUID 16 | 32  incarnation 8
   *  40  root key 8 | 48  hash seed 8 | 56  region bytes 8 | 64  segment bytes 4 | 68  heads 4 | 72  promise 4 | 76  put mode 4
   *  80  client ID 4 | 84  connection epoch 4 | 88  key bytes max 4 | 92  value bytes max 4 | 96  message bytes max 4
   * 100  polling ns 4 | 104  requests max 4 | 108  line of commits 4 | 112  commits key 8 | 120  zero 8
   * </pre>
   *
   * @param rootKey remote key of the root
   * @param putMode the code of a {@link PutMode}, or an unknown code when the server has further
   *     modes
   * @param clientId never 0; with the connection epoch it names this connection in every request
   * @param pollingNs how long the server polls before it sleeps: a hint for the client's own
   *     polling
   * @param requestsMax requests that the client may have under way; 0: as many as the protocol
   *     allows
   * @param commitsLine the client's line in {@link Commits}
   * @param commitsKey remote key of {@link Commits}; 0: the client commits nothing by itself, as
   *     with a server from before the field
   */
  public record Welcome(
      UUID store,
      long incarnation,
      long rootKey,
      long hashSeed,
      long regionBytes,
      int segmentBytes,
      int heads,
      Promise promise,
      int putMode,
      int clientId,
      int connectionEpoch,
      int keyBytesMax,
      int valueBytesMax,
      int messageBytesMax,
      int pollingNs,
      int requestsMax,
      int commitsLine,
      long commitsKey) {}

  /**
   * The server's refusal. The text names the values of both ends.
   *
   * <pre>
   *   0  magic 4 | 4  protocol version 4 | 8  layout version 4 | 12  kind = 3 4 | 16  reason 4 | 20  UTF-8 text, to the end
   * </pre>
   */
  public record Refusal(int reason, String text) {
    public static final int VERSION = 1;
    public static final int PROMISE = 2;
    public static final int STORE = 3;
    public static final int CONNECTIONS = 4;
    public static final int NOT_ERDA = 5;
  }

  public static MemorySegment encode(Hello hello) {
    MemorySegment to =
        start(HELLO_BYTES, hello.protocolVersion(), hello.layoutVersion(), KIND_HELLO);
    to.set(INT, 16, hello.required() == null ? -1 : hello.required().code());
    to.set(LONG, 24, hello.processId());
    putUuid(to, 32, hello.store());
    return to;
  }

  /**
   * Returns the hello in these bytes, or null when they are no hello (too short, other magic or
   * kind). The caller compares the versions.
   */
  public static Hello decodeHello(MemorySegment from) {
    if (!isKind(from, HELLO_BYTES, KIND_HELLO)) {
      return null;
    }
    int required = from.get(INT, 16);
    Promise promise = Promise.ofCode(required);
    if (promise == null && required != -1) {
      return null;
    }
    return new Hello(
        from.get(INT, 4), from.get(INT, 8), promise, from.get(LONG, 24), uuid(from, 32));
  }

  public static MemorySegment encode(Welcome welcome) {
    MemorySegment to =
        start(WELCOME_BYTES, Protocol.VERSION, Protocol.LAYOUT_VERSION, KIND_WELCOME);
    putUuid(to, 16, welcome.store());
    to.set(LONG, 32, welcome.incarnation());
    to.set(LONG, 40, welcome.rootKey());
    to.set(LONG, 48, welcome.hashSeed());
    to.set(LONG, 56, welcome.regionBytes());
    to.set(INT, 64, welcome.segmentBytes());
    to.set(INT, 68, welcome.heads());
    to.set(INT, 72, welcome.promise().code());
    to.set(INT, 76, welcome.putMode());
    to.set(INT, 80, welcome.clientId());
    to.set(INT, 84, welcome.connectionEpoch());
    to.set(INT, 88, welcome.keyBytesMax());
    to.set(INT, 92, welcome.valueBytesMax());
    to.set(INT, 96, welcome.messageBytesMax());
    to.set(INT, 100, welcome.pollingNs());
    to.set(INT, 104, welcome.requestsMax());
    to.set(INT, 108, welcome.commitsLine());
    to.set(LONG, 112, welcome.commitsKey());
    return to;
  }

  /** Returns the welcome in these bytes, or null when they are no welcome of this version. */
  public static Welcome decodeWelcome(MemorySegment from) {
    if (!isKind(from, WELCOME_BYTES, KIND_WELCOME)
        || from.get(INT, 4) != Protocol.VERSION
        || from.get(INT, 8) != Protocol.LAYOUT_VERSION) {
      return null;
    }
    Promise promise = Promise.ofCode(from.get(INT, 72));
    if (promise == null) {
      return null;
    }
    return new WelcomeBuilder()
        .store(uuid(from, 16))
        .incarnation(from.get(LONG, 32))
        .rootKey(from.get(LONG, 40))
        .hashSeed(from.get(LONG, 48))
        .regionBytes(from.get(LONG, 56))
        .segmentBytes(from.get(INT, 64))
        .heads(from.get(INT, 68))
        .promise(promise)
        .putMode(from.get(INT, 76))
        .clientId(from.get(INT, 80))
        .connectionEpoch(from.get(INT, 84))
        .keyBytesMax(from.get(INT, 88))
        .valueBytesMax(from.get(INT, 92))
        .messageBytesMax(from.get(INT, 96))
        .pollingNs(from.get(INT, 100))
        .requestsMax(from.get(INT, 104))
        .commitsLine(from.get(INT, 108))
        .commitsKey(from.get(LONG, 112))
        .build();
  }

  public static MemorySegment encode(Refusal refusal) {
    byte[] text = refusal.text().getBytes(UTF_8);
    byte[] cut = text.length > REFUSAL_TEXT_MAX ? Arrays.copyOf(text, REFUSAL_TEXT_MAX) : text;
    MemorySegment to =
        start(
            REFUSAL_TEXT_OFFSET + cut.length,
            Protocol.VERSION,
            Protocol.LAYOUT_VERSION,
            KIND_REFUSAL);
    to.set(INT, 16, refusal.reason());
    MemorySegment.copy(cut, 0, to, ValueLayout.JAVA_BYTE, REFUSAL_TEXT_OFFSET, cut.length);
    return to;
  }

  /** Returns the refusal in these bytes, or null when they are no refusal. */
  public static Refusal decodeRefusal(MemorySegment from) {
    if (!isKind(from, REFUSAL_TEXT_OFFSET, KIND_REFUSAL)) {
      return null;
    }
    int length = (int) Math.min(from.byteSize() - REFUSAL_TEXT_OFFSET, REFUSAL_TEXT_MAX);
    byte[] text = new byte[length];
    MemorySegment.copy(from, ValueLayout.JAVA_BYTE, REFUSAL_TEXT_OFFSET, text, 0, length);
    return new Refusal(from.get(INT, 16), new String(text, UTF_8));
  }

  private static MemorySegment start(int bytes, int protocolVersion, int layoutVersion, int kind) {
    MemorySegment to = MemorySegment.ofArray(new byte[bytes]);
    to.set(INT, 0, MAGIC);
    to.set(INT, 4, protocolVersion);
    to.set(INT, 8, layoutVersion);
    to.set(INT, 12, kind);
    return to;
  }

  private static boolean isKind(MemorySegment from, int bytesMin, int kind) {
    return from.byteSize() >= bytesMin && from.get(INT, 0) == MAGIC && from.get(INT, 12) == kind;
  }

  private static void putUuid(MemorySegment to, long at, UUID uuid) {
    to.set(LONG, at, uuid == null ? 0 : uuid.getMostSignificantBits());
    to.set(LONG, at + 8, uuid == null ? 0 : uuid.getLeastSignificantBits());
  }

  private static UUID uuid(MemorySegment from, long at) {
    long high = from.get(LONG, at);
    long low = from.get(LONG, at + 8);
    return high == 0 && low == 0 ? null : new UUID(high, low);
  }

  private Handshake() {}
}
