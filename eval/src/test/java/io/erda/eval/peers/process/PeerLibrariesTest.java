package io.erda.eval.peers.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PeerLibrariesTest {
  @TempDir Path directory;
  private Path list;

  @BeforeEach
  void aListOfTwoJarsOfWhichOneIsGone() throws IOException {
    Path here = Files.createFile(directory.resolve("chronicle-map-2026.1.jar"));
    Path gone = directory.resolve("rocksdbjni-11.8.1.jar");
    list = Files.writeString(directory.resolve("list"), here + File.pathSeparator + gone + "\n");
  }

  @Test
  void whatIsHereHasItsVersion() {
    PeerLibraries libraries = PeerLibraries.listed(list);
    assertEquals(Optional.empty(), libraries.missing(PeerSystem.CHRONICLE_MAP));
    assertEquals("Chronicle Map 2026.1, persisted", libraries.title(PeerSystem.CHRONICLE_MAP));
  }

  @Test
  void whatIsNotHereIsMissing() {
    PeerLibraries libraries = PeerLibraries.listed(list);
    assertTrue(libraries.missing(PeerSystem.ROCKSDB).orElseThrow().contains("rocksdbjni"));
    assertTrue(libraries.missing(PeerSystem.LMDB).orElseThrow().contains("lmdbjava"));
    assertEquals("RocksDB, WAL not synced", libraries.title(PeerSystem.ROCKSDB));
  }

  @Test
  void erdaIsAlwaysHere() {
    PeerLibraries libraries = PeerLibraries.listed(directory.resolve("nowhere"));
    assertEquals(Optional.empty(), libraries.missing(PeerSystem.ERDA_SHM));
    assertEquals(Optional.empty(), libraries.missing(PeerSystem.ERDA_EMBEDDED));
    assertTrue(libraries.missing(PeerSystem.CHRONICLE_MAP).isPresent());
  }
}
