package io.erda.testbed;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CallCountsTest {
  private static final Path WORLD = Path.of("/w/world");

  private static CallCounts counts(String... lines) {
    return CallCounts.of(String.join("\n", lines), WORLD);
  }

  @Test
  void countsByTheThreadThatMakesMost() {
    CallCounts counts =
        counts(
            "7  flock(46</w/world/data/shm>, LOCK_EX|LOCK_NB) = 0",
            "8  flock(46</w/world/data/shm>, LOCK_EX|LOCK_NB) = 0",
            "8  flock(42</w/world/data>, LOCK_EX|LOCK_NB) = 0");
    assertEquals(2, counts.most("flock", true));
    assertEquals(0, counts.most("fcntl", true));
  }

  @Test
  void tellsCallsAboutFilesOfTheStoreFromOthers() {
    CallCounts counts =
        counts(
            "7  openat(AT_FDCWD</w/world>, \"/etc/hosts\", O_RDONLY) = 9</etc/hosts>",
            "7  openat(45</w/world/data>, \"shm\", O_RDONLY) = 46</w/world/data/shm>",
            "7  openat(AT_FDCWD</w/world>, \"/proc/self/fd/46\", O_RDONLY) ="
                + " 47</w/world/data/shm>");
    assertEquals(2, counts.most("openat", true));
    assertEquals(3, counts.most("openat", false));
    assertEquals(Set.of("/w/world/data", "/proc/self/fd/46"), counts.paths());
  }

  @Test
  void whatHasNoNameAnyMoreAndWhatIsSaidIsNoFileOfTheStore() {
    CallCounts counts =
        counts(
            "7  fstat(44</w/world/data/#2499473>(deleted), {st_mode=S_IFREG|0640}) = 0",
            "7  write(1</w/world/server.out>, \"serving\", 7) = 7");
    assertEquals(0, counts.most("fstat", true));
    assertEquals(0, counts.most("write", true));
    assertEquals(1, counts.most("write", false));
  }

  @Test
  void countsTheMostFrequentOfCallsThatDoTheSame() {
    CallCounts counts =
        counts(
            "7  fsync(4</w/world/a>) = 0",
            "7  fdatasync(4</w/world/a>) = 0",
            "7  fsync(4</w/world/a>) = 0");
    assertEquals(2, counts.most("fsync/fdatasync", false));
  }
}
