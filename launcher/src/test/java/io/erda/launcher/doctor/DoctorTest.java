package io.erda.launcher.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.launcher.doctor.Finding.State;
import io.erda.verbs.DeviceAbilities;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each finding, from files that are made up: first a machine that has all, then what is wrong. */
class DoctorTest {
  private static final List<String> FLAGS = List.of("--enable-native-access=ALL-UNNAMED");
  private static final String LIMITS =
      """
      Limit                     Soft Limit           Hard Limit           Units
      Max file size             unlimited            unlimited            bytes
      Max open files            20000                20000                files
      Max locked memory         unlimited            unlimited            bytes
      """;
  private static final long GIB = 1L << 30;

  @TempDir Path directory;

  private Path data;
  private JavaMachine machine = new JavaMachine(25, "25.0.1", FLAGS, 4, GIB, "Linux", "amd64");
  private Room room = new Room(100 * GIB, 50 * GIB, 1000, 900);
  private Predicate<String> libraries = library -> true;
  private boolean chosen = true;
  private List<DeviceAbilities> abilities =
      List.of(new DeviceAbilities("mlx5_0", false, true, true, true, true));

  @BeforeEach
  void makeAMachineThatHasAll() throws IOException {
    data = directory.resolve("data");
    Files.createDirectory(data);
    write("proc/self/limits", LIMITS);
    write("proc/self/cgroup", "0::/a/b\n");
    write("proc/cpuinfo", "processor : 0\nprocessor : 1\nprocessor : 2\nprocessor : 3\n");
    write("proc/meminfo", "MemTotal:       8388608 kB\n");
    write("proc/sys/vm/max_map_count", "65530\n");
    mounted("ext4", "rw");
    write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    write("sys/kernel/mm/transparent_hugepage/shmem_enabled", "always advise [never] deny\n");
    write("dev/shm/.keep", "");
  }

  @Test
  void aMachineThatHasAllButRdma() {
    Map<String, State> others =
        examine().stream()
            .filter(each -> each.state() != State.OK)
            .collect(Collectors.toMap(Finding::name, Finding::state));
    assertEquals(Map.of("rdma devices", State.NOTE), others);
  }

  @Test
  void everythingThatIsNotAsItShouldBeNamesWhatMendsIt() throws IOException {
    machine = new JavaMachine(21, "21", List.of(), 1, GIB, "Plan 9", "vax");
    libraries = library -> false;
    room = new Room(GIB, 1, 100, 1);
    Files.delete(directory.resolve("proc/self/limits"));
    for (Finding each : examine()) {
      assertEquals(each.state() == State.OK, each.mend() == null, each::toString);
    }
  }

  @Test
  void java() {
    machine = new JavaMachine(24, "24.0.2", FLAGS, 4, GIB, "Linux", "amd64");
    assertFound("java", State.WRONG, "24.0.2: Erda needs a JDK 25", "ERDA_JAVA_HOME");
  }

  @Test
  void flags() {
    machine = new JavaMachine(25, "25", List.of("-Xmx1g"), 4, GIB, "Linux", "amd64");
    assertFound("java flags", State.NOTE, FLAGS.getFirst(), "./erda classpath --flags");
  }

  @Test
  void system() {
    machine = new JavaMachine(25, "25", FLAGS, 4, GIB, "Mac OS X", "aarch64");
    assertFound("system", State.WRONG, "Mac OS X on aarch64", "Linux");
    machine = new JavaMachine(25, "25", FLAGS, 4, GIB, "Linux", "s390x");
    assertFound("system", State.NOTE, "s390x", "amd64");
  }

  @Test
  void cores() throws IOException {
    write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assertFound("cores", State.NOTE, "the control group allows 1.5 at a time", "CPUQuota=");
    Files.delete(directory.resolve("sys/fs/cgroup/a/cpu.max"));
    machine = new JavaMachine(25, "25", FLAGS, 3, GIB, "Linux", "amd64");
    assertFound("cores", State.NOTE, "3 used by the JVM, of 4", "AllowedCPUs=");
  }

  @Test
  void memory() throws IOException {
    write("sys/fs/cgroup/a/b/memory.max", 2 * GIB + "\n");
    assertFound("memory", State.NOTE, "allows 2 GiB, and the pages of the store's", "MemoryMax=");
    write("sys/fs/cgroup/memory.max", GIB / 2 + "\n");
    assertFound("memory", State.NOTE, "allows 512 MiB: the kernel ends", "-Xmx");
  }

  /** Version 1 of control groups, which it said nothing of. */
  @Test
  void controlGroupsOfVersion1() throws IOException {
    write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n0::/\n");
    write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", 2 * GIB + "\n");
    assertFound("memory", State.NOTE, "allows 2 GiB, and the pages of the store's", "MemoryMax=");
    write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "50000\n");
    assertFound("cores", State.NOTE, "the control group allows 0.5 at a time", "CPUQuota=");
    write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n");
    machine = new JavaMachine(25, "25", FLAGS, 3, GIB, "Linux", "amd64");
    assertFound("cores", State.NOTE, "3 used by the JVM, of 4", "AllowedCPUs=");
  }

  @Test
  void openFiles() throws IOException {
    write("proc/self/limits", LIMITS.replace("20000", "256  "));
    assertFound("open files", State.NOTE, "256: ", "LimitNOFILE=");
    write("proc/self/limits", LIMITS.replace("20000", "32   "));
    assertFound("open files", State.WRONG, "32: ", "ulimit -n");
  }

  @Test
  void processes() throws IOException {
    write(
        "proc/self/limits",
        LIMITS + "Max processes             60            60       processes\n");
    assertFound("processes", State.NOTE, "60: a server and its JVM", "LimitNPROC=");
  }

  /** The limit is the same from either source. */
  @Test
  void theKernelsListSaysWhatTheLibrarySays() {
    KernelLimits listed = KernelLimits.ofList(Path.of("/proc/self/limits"));
    for (KernelLimits.Of what : KernelLimits.Of.values()) {
      assertEquals(KernelLimits.ofLibrary(what), listed.soft(what), what::toString);
      assertEquals(listed.soft(what), KernelLimits.ofThisProcess().soft(what), what::toString);
    }
  }

  @Test
  void fileSize() throws IOException {
    write("proc/self/limits", LIMITS.replace("size             unlimited", "size  1048576"));
    assertFound("file size", State.WRONG, "1 MiB: a region", "ulimit -f unlimited");
    write("proc/self/limits", LIMITS.replace("size             unlimited", "size  1073741824"));
    assertFound("file size", State.NOTE, "1 GiB: the hash table", "LimitFSIZE=infinity");
  }

  @Test
  void mappings() throws IOException {
    write("proc/sys/vm/max_map_count", "1000\n");
    assertFound("mappings", State.NOTE, "1000: ", "sysctl -w vm.max_map_count=65530");
  }

  @Test
  void directoryOfAStore() throws IOException {
    assertFound("directory", State.OK, "is empty", null);
    Files.createFile(data.resolve("regions"));
    Files.createFile(data.resolve("root"));
    assertFound("directory", State.OK, "is empty", null);
    Files.delete(data.resolve("regions"));
    assertFound("directory", State.WRONG, "it holds root", "--data");
    chosen = false;
    assertFound("directory", State.NOTE, "it holds root", "--data");
    Files.createFile(data.resolve("superblock"));
    assertFound("directory", State.OK, "holds a store", null);
    data = data.resolve("none/of/it");
    assertFound("directory", State.OK, "can be made", null);
    data = Files.createFile(directory.resolve("file")).resolve("below");
    assertFound("directory", State.WRONG, "file is no directory", "--data");
  }

  /** It said to give the user the directory around: with /var/lib/erda that would be /var/lib. */
  @Test
  void whoMayNotWriteIsToldToMakeADirectoryAndNotToTakeOne() {
    String user = System.getProperty("user.name");
    Path missing = data.resolve("store");
    assertEquals(
        "install -d -m 700 -o " + user + " " + missing + " (as the superuser)",
        DirectoryFindings.mendOwner(missing));
    assertTrue(DirectoryFindings.mendOwner(data).startsWith("chown " + user + " " + data + " ("));
  }

  /** A volume can't be mounted over all of a container. */
  @Test
  void aContainersFileSystemIsToldTheStoresDirectory() {
    mounted("overlay", "rw");
    assertFound("file system", State.NOTE, "(overlayfs)", "VOLUME:" + data);
  }

  @Test
  void space() throws IOException {
    room = new Room(GIB, 50 << 20, 1000, 900);
    assertFound(
        "disk space",
        State.WRONG,
        "50 MiB of 1 GiB free: a new store",
        "--capacity 16M --buckets 131072");
    room = new Room(GIB, 7 << 20, 1000, 900);
    assertFound("disk space", State.WRONG, "7 MiB of 1 GiB free", "too small for any store");
    room = new Room(GIB, 100 << 20, 1000, 900);
    assertFound("disk space", State.WRONG, "100 MiB of 1 GiB free: a new store", "--capacity 32M ");
    room = new Room(GIB, 150 << 20, 1000, 900);
    assertFound("disk space", State.OK, "150 MiB of 1 GiB free", null);
    room = new Room(GIB, 50 << 20, 1000, 900);
    Files.createFile(data.resolve("superblock"));
    assertFound("disk space", State.NOTE, "puts are refused", "./erda clean");
    room = new Room(0, 0, 0, 0);
    assertFound("disk space", State.OK, "does not tell", null);
  }

  @Test
  void inodes() {
    room = new Room(GIB, GIB, 1000, 5);
    assertFound("inodes", State.WRONG, "5 of 1000 free", "another file system");
    room = new Room(GIB, GIB, 0, 0);
    assertFound("inodes", State.OK, "without a limit", null);
  }

  @Test
  void fileSystem() throws IOException {
    for (String type : Set.of("ext4", "xfs", "tmpfs")) {
      mounted(type, "rw");
      assertFound("file system", State.OK, type, null);
    }
    Map<String, String> others =
        Map.of(
            "nfs4", "is a network's",
            "overlay", "(overlayfs)",
            "fuse.sshfs", "(FUSE)",
            "btrfs", "to another place",
            "vfat", "was never tried");
    for (Map.Entry<String, String> each : others.entrySet()) {
      mounted(each.getKey(), "rw");
      assertFound("file system", State.NOTE, each.getValue(), "");
    }
    mounted("ext4", "ro");
    assertFound("file system", State.WRONG, "read-only", "mount -o remount,rw");
    assertFound("directory", State.WRONG, "/ is mounted read-only", "mount -o remount,rw /");
    Files.delete(directory.resolve("proc/self/mountinfo"));
    assertFound("file system", State.NOTE, "not told", "ext4 or xfs");
  }

  @Test
  void theMountThatCounts() {
    String real = realDirectory().replace(" ", "\\040");
    write(
        "proc/self/mountinfo",
        """
        20 1 8:1 / / rw - ext4 /dev/a rw
        21 20 0:5 / %s rw - nfs server:/x rw
        22 21 8:2 / %s/data rw shared:1 - ext4 /dev/b rw
        23 22 8:3 / %s/data rw - xfs /dev/c rw
        24 20 8:4 / %s/dat rw - vfat /dev/d rw
        no line of it
        """
            .formatted(real, real, real, real));
    assertFound("file system", State.OK, "xfs at " + realDirectory() + "/data", null);
  }

  @Test
  void dax() {
    mounted("ext4", "rw,dax=always");
    assertFound("dax", State.OK, "survive power failures without", null);
    mounted("xfs", "rw,dax=inode");
    assertFound("dax", State.NOTE, "marked for it", "dax=always");
    mounted("xfs", "rw,dax=never");
    assertFound("dax", State.OK, "with --promise power", null);
    mounted("tmpfs", "rw");
    assertFound("dax", State.OK, "nothing survives a power failure", null);
  }

  @Test
  void hugePages() {
    mounted("tmpfs", "rw");
    assertFound("huge pages", State.NOTE, "without huge=", "remount,huge=within_size");
    mounted("tmpfs", "rw,huge=always");
    assertFound("huge pages", State.OK, "has them", null);
    write("sys/kernel/mm/transparent_hugepage/shmem_enabled", "always never [deny] force\n");
    assertFound("huge pages", State.NOTE, "has none", "shmem_enabled");
  }

  @Test
  void sharedMemory() throws IOException {
    assertFound("/dev/shm", State.OK, "50 GiB of 100 GiB free", null);
    Files.delete(directory.resolve("dev/shm/.keep"));
    Files.delete(directory.resolve("dev/shm"));
    assertFound("/dev/shm", State.NOTE, "not there", "mount -t tmpfs");
  }

  @Test
  void rdmaLibraries() {
    libraries = library -> !library.equals("librdmacm.so.1");
    assertFound("rdma libraries", State.NOTE, "librdmacm.so.1 can't be loaded", "apt-get install");
  }

  @Test
  void rdmaDevice() throws IOException {
    rdma("4: ACTIVE", "fe80:0000:0000:0000:0000:0000:0000:0001");
    assertFound("rdma devices", State.OK, "rxe0", null);
    assertFound("rdma port", State.OK, "rxe0/1: 4: ACTIVE, Ethernet, 1 GIDs", null);
    assertFound("rdma files", State.OK, "uverbs0 and rdma_cm can be opened", null);
    assertFound("locked memory", State.OK, "unlimited", null);

    write("proc/self/limits", LIMITS.replace("memory         unlimited", "memory  8388608"));
    assertFound("locked memory", State.NOTE, "8 MiB: ", "LimitMEMLOCK=infinity");
    Files.delete(directory.resolve("dev/infiniband/rdma_cm"));
    assertFound("rdma files", State.NOTE, "rdma_cm is not there", "modprobe rdma_ucm");
    assertEquals(0, examine().stream().filter(each -> each.state() == State.WRONG).count());
  }

  @Test
  void abilitiesOfADeviceThatHasAll() {
    rdma("4: ACTIVE", "fe80:0000:0000:0000:0000:0000:0000:0001");
    assertFound("on-demand paging", State.OK, "mlx5_0 has it", null);
    assertFound("flush", State.OK, "mlx5_0 has it, global and persistent", null);
    assertFound("atomic write", State.OK, "mlx5_0 has it", null);
  }

  @Test
  void abilitiesThatAreMissing() {
    rdma("4: ACTIVE", "fe80:0000:0000:0000:0000:0000:0000:0001");
    abilities = List.of(new DeviceAbilities("mlx4_0", false, false, false, false, false));
    assertFound("on-demand paging", State.NOTE, "mlx4_0 has none: a store on ext4", "/dev/shm");
    assertFound("flush", State.NOTE, "mlx4_0 has none: puts need none", "rdma link add");
    assertFound("atomic write", State.NOTE, "mlx4_0 has none", "rdma link add");
    abilities = List.of(new DeviceAbilities("mlx4_0", false, false, true, false, true));
    assertFound("flush", State.NOTE, "global and not persistent", "rdma link add");
    mounted("tmpfs", "rw");
    assertFound("on-demand paging", State.OK, "a store on tmpfs needs none", null);
  }

  @Test
  void softRdmasPagingIsNotBelieved() {
    rdma("4: ACTIVE", "fe80:0000:0000:0000:0000:0000:0000:0001");
    abilities = List.of(new DeviceAbilities("rxe0", true, true, true, true, true));
    assertFound("on-demand paging", State.NOTE, "soft RDMA does it wrong", "/dev/shm");
    mounted("tmpfs", "rw");
    assertFound("on-demand paging", State.OK, "a store on tmpfs needs none", null);
  }

  @Test
  void abilitiesThatNobodyTells() {
    rdma("4: ACTIVE", "fe80:0000:0000:0000:0000:0000:0000:0001");
    abilities = null;
    assertFound("rdma abilities", State.NOTE, "no permission", "ibv_devinfo -v -d rxe0");
  }

  @Test
  void persistentMemory() throws IOException {
    assertFound("dax mounts", State.OK, "no persistent memory", null);
    write("sys/bus/nd/devices/region0/size", "1\n");
    assertFound("dax mounts", State.NOTE, "region0", "ndctl create-namespace -m fsdax");
    write("sys/bus/dax/devices/dax0.0/size", "1\n");
    assertFound("dax mounts", State.OK, "dax0.0 is a devdax device", null);
    Files.delete(directory.resolve("sys/bus/dax/devices/dax0.0/size"));
    Files.delete(directory.resolve("sys/bus/dax/devices/dax0.0"));
    write("sys/block/pmem0/queue/dax", "0\n");
    assertFound("dax mounts", State.NOTE, "pmem0 offers no DAX", "ndctl create-namespace -f");
    write("sys/block/pmem0/queue/dax", "1\n");
    assertFound("dax mounts", State.NOTE, "pmem0 is not mounted", "mount -o dax /dev/pmem0 DIR");
    String line = "28 1 259:0 / /store rw - ext4 /dev/pmem0 rw%s\n";
    write("proc/self/mountinfo", line.formatted(""));
    assertFound("dax mounts", State.NOTE, "at /store without DAX", "umount /store");
    write("proc/self/mountinfo", line.formatted(",dax=never"));
    assertFound("dax mounts", State.NOTE, "at /store without DAX", "umount /store");
    write("proc/self/mountinfo", line.formatted(",dax=always"));
    assertFound("dax mounts", State.OK, "pmem0 at /store, ext4, dax=always", null);
  }

  @Test
  void rdmaPort() {
    rdma("1: DOWN", "fe80:0000:0000:0000:0000:0000:0000:0001");
    assertFound("rdma port", State.NOTE, "1: DOWN", "ip link set");
    rdma("4: ACTIVE", "0000:0000:0000:0000:0000:0000:0000:0000");
    assertFound("rdma port", State.NOTE, "0 GIDs", "ip address add");
  }

  private void rdma(String state, String gid) {
    write("sys/class/infiniband/rxe0/ports/1/state", state + "\n");
    write("sys/class/infiniband/rxe0/ports/1/link_layer", "Ethernet\n");
    write("sys/class/infiniband/rxe0/ports/1/gids/0", gid + "\n");
    write("dev/infiniband/uverbs0", "");
    write("dev/infiniband/rdma_cm", "");
  }

  private void mounted(String type, String options) {
    write(
        "proc/self/mountinfo",
        "27 1 254:0 / / rw shared:1 - %s /dev/vda %s\n".formatted(type, options));
  }

  private String realDirectory() {
    try {
      return directory.toRealPath().toString();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void write(String file, String text) {
    try {
      Path path = directory.resolve(file);
      Files.createDirectories(path.getParent());
      Files.writeString(path, text);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private List<Finding> examine() {
    return Doctor.examine(
        new Surroundings(
            data,
            chosen,
            directory.resolve("proc"),
            directory.resolve("sys"),
            directory.resolve("dev"),
            KernelLimits.ofList(directory.resolve("proc/self/limits")),
            machine,
            this::room,
            libraries,
            this::abilities),
        FLAGS);
  }

  private List<DeviceAbilities> abilities() throws IOException {
    if (abilities == null) {
      throw new IOException("no permission");
    }
    return abilities;
  }

  private Room room(Path at) throws IOException {
    if (!Files.exists(at)) {
      throw new IOException("no such directory");
    }
    return room;
  }

  private void assertFound(String name, State state, String part, String mend) {
    Finding finding =
        examine().stream().filter(each -> each.name().equals(name)).findFirst().orElse(null);
    assertNotNull(finding, name);
    assertEquals(state, finding.state(), finding::toString);
    assertTrue(finding.found().contains(part), finding::toString);
    if (mend == null) {
      assertEquals(null, finding.mend());
    } else {
      assertTrue(finding.mend().contains(mend), finding::toString);
    }
  }
}
