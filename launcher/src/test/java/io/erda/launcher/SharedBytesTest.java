package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.protocol.Handshake;
import io.erda.protocol.Promise;
import io.erda.protocol.WelcomeBuilder;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Bytes that two processes share don't change without their version: each version number has a
 * fingerprint of the numbers that its flyweights consist of (offsets, sizes, types, states,
 * magics), in {@code kept-versions/fingerprints.properties}, a line for each version that there
 * was.
 */
class SharedBytesTest {
  private static final Path FINGERPRINTS =
      Path.of("src", "test", "resources", "kept-versions", "fingerprints.properties");

  /** The formats that have a version, and the classes whose constants define their layout. */
  enum Shared {
    SHM(
        "io.erda.rdma.rings.QueueLayout",
        "VERSION",
        "io.erda.rdma.rings.RegistryLayout",
        "io.erda.rdma.rings.Ring",
        "io.erda.rdma.shm.ShmSocket",
        "io.erda.rdma.rings.Counters"),
    TCP("io.erda.rdma.tcp.Hello", "VERSION", "io.erda.rdma.tcp.Frame", "io.erda.rdma.Status"),
    PROTOCOL(
        "io.erda.protocol.Protocol",
        "VERSION",
        "io.erda.protocol.Handshake",
        "io.erda.protocol.Message",
        "io.erda.protocol.Result"),
    COMMITS("io.erda.protocol.Commits", "VERSION"),
    LAYOUT(
        "io.erda.protocol.Protocol",
        "LAYOUT_VERSION",
        "io.erda.protocol.Root",
        "io.erda.protocol.SuperblockLayout",
        "io.erda.protocol.StopHeader",
        "io.erda.hashtable.TableLayout",
        "io.erda.hashtable.Entry",
        "io.erda.hashtable.VersionWord",
        "io.erda.hashtable.Stretch",
        "io.erda.logstore.ObjectLayout",
        "io.erda.logstore.RegionHeader",
        "io.erda.logstore.RegionTable",
        "io.erda.logstore.HeaderFields");

    final String versionOf;
    final String versionField;
    final List<String> classes;

    Shared(String versionOf, String versionField, String... more) {
      this.versionOf = versionOf;
      this.versionField = versionField;
      List<String> all = new ArrayList<>(List.of(more));
      all.add(versionOf);
      this.classes = List.copyOf(all);
    }

    /** How it is called in the file of fingerprints. */
    String key() throws ReflectiveOperationException {
      Field field = Class.forName(versionOf).getDeclaredField(versionField);
      field.setAccessible(true);
      return name().toLowerCase(java.util.Locale.ROOT) + "." + field.getInt(null);
    }
  }

  @ParameterizedTest
  @EnumSource
  void haveAnotherVersionWhereTheyAreOthers(Shared shared)
      throws IOException, ReflectiveOperationException {
    Properties known = new Properties();
    try (var in = Files.newBufferedReader(FINGERPRINTS, UTF_8)) {
      known.load(in);
    }
    List<String> constants = new ArrayList<>();
    for (String name : shared.classes) {
      addConstants(Class.forName(name), constants);
    }
    if (shared == Shared.PROTOCOL) {
      addHandshake(constants);
    }
    String fingerprint = fingerprint(constants);
    assertEquals(
        fingerprint,
        known.getProperty(shared.key()),
        () ->
            """
            bytes that two processes share are others than those that version %s stands for (or this
            version is new). Where an end of before would read them wrongly, raise %s.%s, keep the
            classes of before the change (KeptVersionsTest says how), say it in the FORMAT page, and
            add the line '%s=%s' to %s. Where nothing that is shared has changed (a constant was
            renamed, or one of no bytes was added to a flyweight), change the line to this.\
            """
                .formatted(
                    key(shared),
                    shared.versionOf,
                    shared.versionField,
                    key(shared),
                    fingerprint,
                    FINGERPRINTS));
  }

  private static String key(Shared shared) {
    try {
      return shared.key();
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static void addConstants(Class<?> type, List<String> constants)
      throws ReflectiveOperationException {
    for (Field field : type.getDeclaredFields()) {
      boolean number = field.getType() == int.class || field.getType() == long.class;
      int modifiers = field.getModifiers();
      if (number
          && Modifier.isStatic(modifiers)
          && Modifier.isFinal(modifiers)
          && !field.getName().endsWith("VERSION")) {
        field.setAccessible(true);
        long value = ((Number) field.get(null)).longValue();
        constants.add(type.getSimpleName() + "." + field.getName() + " = " + value);
      }
    }
  }

  /**
   * Adds the offsets of the fields of hello, welcome and refusal, found by a different value in
   * each field.
   */
  private static void addHandshake(List<String> constants) {
    UUID uuid = new UUID(0x1111111111111111L, 0x2222222222222222L);
    add(constants, Handshake.encode(new Handshake.Hello(1, 2, Promise.PROCESS, 3, uuid)));
    add(constants, Handshake.encode(new Handshake.Refusal(4, "text")));
    add(
        constants,
        Handshake.encode(
            new WelcomeBuilder()
                .store(uuid)
                .incarnation(5)
                .rootKey(6)
                .hashSeed(7)
                .regionBytes(8)
                .segmentBytes(9)
                .heads(10)
                .promise(Promise.POWER)
                .putMode(11)
                .clientId(12)
                .connectionEpoch(13)
                .keyBytesMax(14)
                .valueBytesMax(15)
                .messageBytesMax(16)
                .pollingNs(17)
                .requestsMax(18)
                .commitsLine(19)
                .commitsKey(20)
                .build()));
  }

  private static void add(List<String> constants, MemorySegment encoded) {
    MemorySegment copy = MemorySegment.ofArray(encoded.toArray(ValueLayout.JAVA_BYTE));
    copy.asSlice(4, 8).fill((byte) 0); // the two versions
    constants.add(HexFormat.of().formatHex(copy.toArray(ValueLayout.JAVA_BYTE)));
  }

  private static String fingerprint(List<String> constants) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      constants.stream().sorted().forEach(each -> digest.update((each + "\n").getBytes(UTF_8)));
      return HexFormat.of().formatHex(digest.digest(), 0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
