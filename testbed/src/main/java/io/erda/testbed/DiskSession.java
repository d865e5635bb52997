package io.erda.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;

/**
 * The tests of one disk. Guests boot with it one after the other; in each a store is opened several
 * times, by a server or embedded, with the promise or without, and ended cleanly or by a kill; at
 * the end the emulator is killed, which is the cut after which the next guest goes on. Meanwhile
 * the emulator is stopped at many moments and the disk copied: each copy is what a cut at that
 * moment would have left.
 */
final class DiskSession {
  /** Number of clients that put, each its own keys; an embedded store has one. */
  static final int CLIENTS = 2;

  private static final int OPENING_SECONDS = 300;
  private static final long VERSIONS_PER_RUN = 1_000_000;

  /** Takes a disk that was cut, checks it and reports; may do so later. */
  interface Inspector {
    void inspect(CutDisk cut) throws IOException;

    /** Reports a problem that no copy shows. */
    void trouble(Disk.Kind disk, String order, Cut.Phase phase, List<String> lines);

    boolean wantsMore();
  }

  /** A copy of the disk, and its required content. */
  record CutDisk(Disk disk, String order, Cut.Phase phase, Ledger.Claim claim, CutCheck.How how) {}

  private final Guest.Parts parts;
  private final Path work;
  private final Inspector inspector;
  private final List<String> promises;
  private final Random random;
  private final Ledger ledger = new Ledger();
  private final Disk disk;
  private final Path log;
  private final StringBuilder order = new StringBuilder();
  private Guest guest;
  private boolean abruptly;
  private int runs;
  private int copies;
  private int keys;

  /**
   * Begins with a new disk.
   *
   * @param work for files
   * @param promises of the openings, repeated in order; empty: random
   */
  DiskSession(
      Guest.Parts parts,
      Path work,
      Disk disk,
      Inspector inspector,
      List<String> promises,
      long seed) {
    this.parts = parts;
    this.work = work;
    this.disk = disk;
    this.inspector = inspector;
    this.promises = promises;
    this.random = new Random(seed);
    this.log = work.resolve("host.log");
  }

  /** Runs two or three guests. */
  void live() throws IOException {
    int lives = 2 + random.nextInt(2);
    for (int life = 0; life < lives && inspector.wantsMore(); life++) {
      guest = Guest.boot(parts, disk, work.resolve("console-" + life), this::line);
      try {
        if (!liveOnce()) {
          return;
        }
      } finally {
        guest.close();
      }
      order.append(" cut");
      abruptly = true;
      ledger.powerFailed();
    }
  }

  private void line(String line) {
    ledger.line(line);
    try {
      Files.writeString(
          work.resolve("lines"), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Runs one guest. Returns false when the store did not open, so that the session can't go on. */
  private boolean liveOnce() throws IOException {
    guest.send(disk.mountInGuest());
    guest.send("mountpoint -q /store && echo '@ mounted' > /dev/ttyS1");
    if (!guest.await("@ mounted"::equals, 60)) {
      throw new IOException("the guest can't mount its disk; see " + work);
    }
    int many = 1 + random.nextInt(3);
    for (int run = 0; run < many; run++) {
      if (runs > 0 && random.nextInt(3) == 0) {
        verify();
      }
      if (!run(run == many - 1)) {
        return false;
      }
    }
    return true;
  }

  private void verify() throws IOException {
    order.append(" verify");
    int mark = guest.mark();
    guest.send(
        "/app/erda verify --data /store/data > /tmp/verify 2>&1; v=$?;"
            + " echo \"@ V $v $(tail -n 1 /tmp/verify)\" > /dev/ttyS1");
    Guest.sleep(1500 + random.nextInt(2000));
    freeze(Cut.Phase.VERIFY);
    String said = guest.await(mark, l -> l.startsWith("@ V "), OPENING_SECONDS);
    // Before a store was durable for the first time a cut leaves nothing to verify.
    if (said == null || ledger.claim().power() && !said.startsWith("@ V 0 ")) {
      inspector.trouble(
          disk.kind(), order(), Cut.Phase.VERIFY, List.of("verify in the guest: " + said));
    }
  }

  /** Runs one opening of the store, load, and its end; the last one ends with the power cut. */
  private boolean run(boolean last) throws IOException {
    boolean server = random.nextInt(3) != 0;
    // With DAX the promise is kept without being asked for.
    boolean power = disk.kind() == Disk.Kind.DAX ? random.nextInt(4) == 0 : random.nextInt(3) != 0;
    if (!promises.isEmpty()) {
      power = promises.get(runs % promises.size()).equals("power");
    }
    Cut.Phase opening =
        runs == 0 ? Cut.Phase.CREATION : abruptly ? Cut.Phase.RECOVERY : Cut.Phase.OPENING;
    order.append(server ? " server" : " embedded").append(power ? "+power" : "");
    runs++;
    keys = Math.min(160, 40 + runs * 30);
    int mark = guest.mark();
    guest.send("rm -f /tmp/hold; mkfifo /tmp/hold; exec 7<>/tmp/hold");
    if (server) {
      startServer(power);
      guest.await(mark, l -> l.startsWith("opening ") || refused(l), OPENING_SECONDS);
    } else {
      startEmbedded(power);
      guest.await(mark, l -> l.equals("@ O") || refused(l), OPENING_SECONDS);
    }
    Predicate<String> opened = l -> l.startsWith("serving ") || l.startsWith("@ S ");
    int freezes = 1 + random.nextInt(2);
    for (int i = 0; i < freezes && guest.said(mark, opened.or(DiskSession::refused)) == null; i++) {
      Guest.sleep(random.nextInt(1000));
      freeze(opening);
    }
    if (last && random.nextInt(4) == 0) {
      return cut(opening);
    }
    String said = guest.await(mark, opened.or(DiskSession::refused), OPENING_SECONDS);
    if (said == null || refused(said)) {
      return notOpened(opening, said);
    }
    return loadAndEnd(server, last);
  }

  private static boolean refused(String line) {
    return line.startsWith("@ F ") || line.startsWith("@ X ") || line.startsWith("erda: ");
  }

  /**
   * Handles a failed opening: a store that never promised anything may fail to open, any other may
   * not.
   */
  private boolean notOpened(Cut.Phase opening, String said) {
    boolean promised = ledger.claim().power() || !abruptly;
    if (promised || said == null || said.contains("/shm/")) {
      inspector.trouble(
          disk.kind(), order(), opening, List.of("the store does not open in the guest: " + said));
    }
    return false;
  }

  private boolean loadAndEnd(boolean server, boolean last) throws IOException {
    int freezes = 5 + random.nextInt(8);
    int mark = guest.mark();
    // Nothing can be lost before the first acknowledgement.
    guest.await(mark, l -> l.startsWith("@ A "), OPENING_SECONDS);
    for (int i = 0; i < freezes && inspector.wantsMore(); i++) {
      awaitPuts(1 + random.nextInt(60));
      freeze(Cut.Phase.LOAD);
    }
    if (disk.kind() == Disk.Kind.DAX) {
      reportWeakMappings();
    }
    takeTrouble();
    if (last) {
      return cut(Cut.Phase.LOAD);
    }
    abruptly = random.nextBoolean();
    int before = guest.mark();
    if (abruptly) {
      order.append(" killed");
      guest.send("kill -9 $S $C");
    } else if (server) {
      guest.send("kill -9 $C; kill -TERM $S");
    } else {
      guest.send("echo end > /tmp/hold");
    }
    guest.send("for p in $S $C; do wait $p; done; C=; echo '@ ended' > /dev/ttyS1");
    if (guest.await(before, "@ ended"::equals, OPENING_SECONDS) == null) {
      inspector.trouble(disk.kind(), order(), Cut.Phase.LOAD, List.of("the store does not end"));
      return false;
    }
    takeTrouble();
    return true;
  }

  /**
   * Waits for a number of further puts, or for a while: the speed of a guest depends on the
   * machine.
   */
  private void awaitPuts(int many) {
    long enough = ledger.acknowledged() + many;
    for (int looks = 0; looks < 200 && ledger.acknowledged() < enough && guest.isAlive(); looks++) {
      Guest.sleep(20);
    }
    Guest.sleep(random.nextInt(20));
  }

  private void startServer(boolean power) {
    guest.send(
        "/app/erda server --child --data /store/data "
            + Actor.geometryFlags()
            + (power ? " --promise power" : "")
            + " < /tmp/hold > /dev/ttyS1 2>&1 & S=$!");
    StringBuilder clients = new StringBuilder("C=;");
    int many = 1 + random.nextInt(CLIENTS);
    for (int client = 1; client <= many; client++) {
      clients
          .append(" /app/actor load erda+shm:/store/data ")
          .append(load(client))
          .append(" < /dev/null > /dev/ttyS1 2>> /tmp/clients & C=\"$C $!\";");
    }
    guest.send(clients.toString());
  }

  private void startEmbedded(boolean power) {
    guest.send(
        "C=; /app/actor embedded /store/data "
            + (power ? "power " : "none ")
            + load(1)
            + " < /tmp/hold > /dev/ttyS1 2>> /tmp/clients & S=$!");
  }

  private String load(int client) {
    return client + " " + runs * VERSIONS_PER_RUN + " " + keys + " " + random.nextInt(1 << 30);
  }

  /**
   * With DAX every process that writes into a file of the store must have mapped it with MAP_SYNC:
   * "sf" among the flags of the mapping.
   */
  private void reportWeakMappings() {
    int mark = guest.mark();
    guest.send(
        "for p in $S $C; do busybox awk '/^[0-9a-f]+-[0-9a-f]+ / { file = $6; shared = $2 ~"
            + " /^.w.s/ } /^VmFlags:/ { if (shared && file ~ /^.store.data./ && file !~ /.shm./ &&"
            + " $0 !~ / sf/) print \"@ M \" file }' /proc/$p/smaps; done | sort -u > /tmp/weak;"
            + " cat /tmp/weak > /dev/ttyS1; echo '@ mappings' > /dev/ttyS1");
    guest.await(mark, "@ mappings"::equals, OPENING_SECONDS);
    String weak = guest.said(mark, l -> l.startsWith("@ M "));
    if (weak != null) {
      inspector.trouble(
          disk.kind(),
          order(),
          Cut.Phase.LOAD,
          List.of(weak.substring(4) + " is mapped for stores without MAP_SYNC"));
    }
  }

  private void takeTrouble() {
    List<String> trouble = ledger.takeTrouble();
    if (!trouble.isEmpty()) {
      inspector.trouble(disk.kind(), order(), Cut.Phase.LOAD, trouble);
    }
  }

  /** Cuts the power. Returns whether there is a disk to go on with. */
  private boolean cut(Cut.Phase phase) throws IOException {
    guest.cut();
    inspect(phase);
    return true;
  }

  private void freeze(Cut.Phase phase) throws IOException {
    if (inspector.wantsMore()) {
      guest.freeze();
      try {
        inspect(phase);
      } finally {
        guest.thaw();
      }
    }
  }

  /**
   * Checks a copy of the disk. Everything received so far was acknowledged, because the guest is
   * stopped.
   */
  private void inspect(Cut.Phase phase) throws IOException {
    Path directory = Files.createDirectory(work.resolve("cut-" + ++copies));
    Disk copy = disk.copy(directory.resolve("disk"), log);
    CutCheck.How how =
        new CutCheck.How(
            random.nextInt(3) == 0,
            random.nextInt(3) == 0 ? "none" : "power",
            random.nextBoolean() ? "embedded" : "server",
            CLIENTS,
            keys);
    inspector.inspect(new CutDisk(copy, order(), phase, ledger.claim(), how));
  }

  /** The order of the openings, and their ends. */
  String order() {
    return order.toString().strip();
  }

  /** Boots a guest that makes the file system on a new NVDIMM. */
  static Disk formatDax(Guest.Parts parts, Path file, Path work) throws IOException {
    Disk disk = Disk.create(Disk.Kind.DAX, file, work.resolve("host.log"));
    List<String> lines = new ArrayList<>();
    try (Guest guest = Guest.boot(parts, disk, work.resolve("console-format"), lines::add)) {
      guest.send(Disk.formatInGuest());
      if (!guest.await("@ formatted"::equals, 120)) {
        throw new IOException("the guest can't make a file system with DAX; see " + work);
      }
    }
    return disk;
  }
}
