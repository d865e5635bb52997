package io.erda.rdma.shm;

import io.erda.pmem.FailedStoreException;
import io.erda.pmem.FileErrors;
import io.erda.pmem.MappedFault;
import io.erda.pmem.MappingLimit;
import io.erda.pmem.ReadAhead;
import io.erda.pmem.Uninterrupted;
import io.erda.pmem.UnmappedException;
import io.erda.pmem.UntrustedFileException;
import io.erda.pmem.libc.Libc;
import io.erda.rdma.Access;
import io.erda.rdma.rings.Mappings;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.RegistryLayout;
import io.erda.rdma.rings.RemoteRegion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import jdk.nio.mapmode.ExtendedMapMode;

/**
 * A requester's view of the responder's registry. It maps the registry read-only, and the regions
 * that the registry lists. Owns the mappings.
 */
public final class ShmRegistryView implements AutoCloseable {
  /** How many regions stay mapped after {@link #leave}. */
  private static final int LEFT_MAX = 4;

  private final ShmDirectory directory;
  private final ReadAhead readAhead;
  private final Mappings mappings;
  private final MemorySegment registry;
  private final UserPrincipal server;

  /** The last user whose files were accepted as the server's; −1 before the first. */
  private int trustedUser = -1;

  /**
   * The regions that were left last, the newest first. Their files may be used again under another
   * key.
   */
  private final ArrayDeque<RemoteRegion> left = new ArrayDeque<>();

  /** The reason why the file of the last region could not be used; empty when it could. */
  private String unreached = "";

  private final List<RemoteRegion> superseded = new ArrayList<>();

  private record MappedRegion(MemorySegment memory) implements ReadAhead.Mapping {}

  private ShmRegistryView(
      ShmDirectory directory,
      ReadAhead readAhead,
      Mappings mappings,
      MemorySegment registry,
      UserPrincipal server) {
    this.readAhead = readAhead;
    this.server = server;
    this.directory = directory;
    this.mappings = mappings;
    this.registry = registry;
  }

  /**
   * Opens a view. Returns null when there is no registry with this ID, or no longer.
   *
   * @param server the user of the server
   * @param arena the arena of the connection, which outlives the view
   * @param readAhead gets the mappings of regions
   * @throws AccessDeniedException when this user may not read the registry
   * @throws UntrustedFileException when it is no plain file of the server's user
   * @throws UnmappedException when this process can't map it
   */
  public static ShmRegistryView open(
      ShmDirectory directory, long id, UserPrincipal server, Arena arena, ReadAhead readAhead)
      throws AccessDeniedException, UntrustedFileException, UnmappedException {
    try {
      int descriptor = directory.open(ShmRegistry.FILE, false);
      try {
        MemorySegment registry =
            map(ShmRegistry.FILE, descriptor, 0, RegistryLayout.BYTES, false, arena);
        if (RegistryLayout.validate(registry) == null
            && registry.get(QueueLayout.LONG, RegistryLayout.ID_OFFSET) == id) {
          ShmRegistryView view =
              new ShmRegistryView(directory, readAhead, new Mappings(arena), registry, server);
          view.requireServers(ShmRegistry.FILE, descriptor);
          return view;
        }
      } finally {
        Libc.close(descriptor);
      }
    } catch (AccessDeniedException | UntrustedFileException | UnmappedException e) {
      throw e;
    } catch (IOException e) {
      return null;
    }
    return null;
  }

  /**
   * Throws unless a file belongs to the server's user. It may also belong to the owner of both
   * directories, when another user of the store runs the server, or to any user, when the superuser
   * runs the server. Without this check a peer could be made to write to a file of a third user, or
   * to another file of its own user under a second name.
   */
  private void requireServers(String name, int descriptor) throws IOException {
    int user = ShmDirectory.attributes(descriptor).userId();
    if (user == trustedUser) {
      return;
    }
    UserPrincipal owner = ShmDirectory.owner(descriptor);
    if (!owner.equals(server)
        && !ShmSocket.isSuperuser(server)
        && !(user == directory.attributes().userId()
            && user == directory.attributesAround().userId())) {
      throw new UntrustedFileException(
          name, "belongs to " + owner.getName() + ", the server to " + server.getName());
    }
    trustedUser = user;
  }

  /** The version of the existing registry, whatever its size; −1 when none can be read. */
  static int version(ShmDirectory directory) {
    try {
      return Uninterrupted.call(() -> versionOnce(directory));
    } catch (IOException e) {
      return -1;
    }
  }

  private static int versionOnce(ShmDirectory directory) throws IOException {
    int descriptor = directory.open(ShmRegistry.FILE, false);
    try (FileChannel channel = ShmDirectory.channel(descriptor, false)) {
      ByteBuffer first = ByteBuffer.allocateDirect((int) RegistryLayout.ID_OFFSET);
      channel.read(first, 0);
      return first.hasRemaining()
          ? -1
          : RegistryLayout.version(MemorySegment.ofBuffer(first.flip()));
    } finally {
      Libc.close(descriptor);
    }
  }

  public MemorySegment registry() {
    return registry;
  }

  /** The fields of a slot, each of which is read once. */
  private record Slot(long offset, long length, int access, long inode, String name) {
    boolean isWritable() {
      return (access & (Access.REMOTE_WRITE | Access.REMOTE_ATOMIC)) != 0;
    }
  }

  /**
   * Reads the slot of a key. The key was valid during the whole reading; otherwise this returns
   * null.
   */
  private Slot slot(long key, long at) {
    if ((long) QueueLayout.WORD.getAcquire(registry, at + RegistryLayout.KEY) != key) {
      return null;
    }
    Slot slot =
        new Slot(
            registry.get(QueueLayout.LONG, at + RegistryLayout.FILE_OFFSET),
            registry.get(QueueLayout.LONG, at + RegistryLayout.LENGTH),
            registry.get(QueueLayout.INT, at + RegistryLayout.ACCESS),
            registry.get(QueueLayout.LONG, at + RegistryLayout.INODE),
            name(at));
    // The loads of the slot come before the second load of the key.
    VarHandle.acquireFence();
    return isValid(key, at) && slot.name != null ? slot : null;
  }

  private boolean isValid(long key, long at) {
    return (long) QueueLayout.WORD.getAcquire(registry, at + RegistryLayout.KEY) == key;
  }

  /**
   * Maps the region of a key; null when the key is not valid, or the file can't be used.
   *
   * @throws AccessDeniedException when this user may not open the file
   * @throws UntrustedFileException when it is no plain file of the server's
   * @throws ShortenedFileException when the file is shorter than the region
   */
  public RemoteRegion reach(long key, boolean toWrite)
      throws AccessDeniedException, UntrustedFileException, ShortenedFileException {
    unreached = "";
    int number = RegistryLayout.slot(key);
    if (key == 0 || number >= RegistryLayout.SLOTS) {
      return null;
    }
    long at = RegistryLayout.slotOffset(number);
    Slot slot = slot(key, at);
    if (slot == null) {
      return null;
    }
    RemoteRegion again = again(key, at, slot, toWrite);
    if (again != null) {
      return again;
    }
    boolean writable = toWrite && slot.isWritable();
    MemorySegment memory = map(slot, writable, mappings.arena());
    if (memory == null) {
      return null;
    }
    readAhead.mapped(new MappedRegion(memory));
    RemoteRegion region =
        new RemoteRegion(
            key,
            registry.address() + at + RegistryLayout.KEY,
            memory,
            writable,
            memory.address(),
            slot.length,
            slot.access,
            new RemoteRegion.Mapping(slot.inode, slot.offset, mappings.made(), readAhead));
    // The mapped file is the registered one only if the key is still valid, because a key is
    // revoked before the name of its file is reused.
    if (!isValid(key, at)) {
      release(region);
      return null;
    }
    return region;
  }

  /**
   * Maps the file of a slot. Returns null when the name leads to another file than the registered
   * one.
   */
  private MemorySegment map(Slot slot, boolean writable, Arena arena)
      throws AccessDeniedException, UntrustedFileException, ShortenedFileException {
    try {
      int descriptor = directory.openRegion(slot.name, writable);
      try {
        ShmDirectory.Attributes now = ShmDirectory.attributes(descriptor);
        if (now.inode() != slot.inode) {
          unreached = slot.name + ": another file has this name";
          return null;
        }
        requireServers(slot.name, descriptor);
        String loss = RemoteRegion.describeLoss(slot.name, now.bytes(), slot.offset + slot.length);
        if (loss != null) {
          throw new ShortenedFileException(loss);
        }
        return map(slot.name, descriptor, slot.offset, slot.length, writable, arena);
      } finally {
        Libc.close(descriptor);
      }
    } catch (AccessDeniedException | UntrustedFileException | ShortenedFileException e) {
      throw e;
    } catch (IOException e) {
      unreached = FileErrors.inWords(e);
      return null;
    }
  }

  /** Returns why the last {@link #reach} could not use the region's file; empty when it could. */
  String unreached() {
    return unreached;
  }

  /**
   * Returns a region that was left and whose file is used again; the file is still mapped, with its
   * pages. Since a mapped file exists, no other file can have its inode number.
   */
  private RemoteRegion again(long key, long at, Slot slot, boolean toWrite) {
    for (Iterator<RemoteRegion> each = left.iterator(); each.hasNext(); ) {
      RemoteRegion known = each.next();
      if (known.mapping().inode() == slot.inode
          && known.mapping().fileOffset() == slot.offset
          && known.length() == slot.length
          && (known.writable() || !toWrite)) {
        each.remove();
        return known.under(key, registry.address() + at + RegistryLayout.KEY, slot.access);
      }
    }
    return null;
  }

  /**
   * Notes that a region is not used any more under its key. The regions that were left last stay
   * mapped.
   */
  public void leave(RemoteRegion region) {
    left.addFirst(region);
    if (left.size() > LEFT_MAX) {
      release(left.removeLast());
      superseded.forEach(this::release);
      superseded.clear();
    }
  }

  /**
   * Notes that another mapping of the same file replaces this one. This mapping ends only when a
   * region of its group is released, which usually does not happen.
   */
  void supersede(RemoteRegion region) {
    // Both mappings have the same pages, which are counted only once.
    readAhead.unmapped(new MappedRegion(region.memory()));
    superseded.add(region);
  }

  private void release(RemoteRegion region) {
    readAhead.unmapped(new MappedRegion(region.memory()));
    mappings.release(region.mapping().group(), region.memory());
  }

  private String name(long slotAt) {
    int length = registry.get(QueueLayout.INT, slotAt + RegistryLayout.NAME_LENGTH);
    if (length <= 0 || length > RegistryLayout.NAME_BYTES_MAX) {
      return null;
    }
    byte[] name = new byte[length];
    MemorySegment.copy(
        registry, ValueLayout.JAVA_BYTE, slotAt + RegistryLayout.NAME, name, 0, length);
    return new String(name, StandardCharsets.UTF_8);
  }

  /** Whether the file of a key, which is mapped, still has its name. */
  boolean isCurrent(long key) {
    int slot = RegistryLayout.slot(key);
    if (slot >= RegistryLayout.SLOTS) {
      return false;
    }
    long at = RegistryLayout.slotOffset(slot);
    String name = name(at);
    return name != null
        && directory.hasAround(name, registry.get(QueueLayout.LONG, at + RegistryLayout.INODE));
  }

  /** Returns why a store to a region failed; null when the region's slot no longer names a file. */
  FailedStoreException storeFailure(RemoteRegion region) {
    String name = name(region.keyAddress() - RegistryLayout.KEY - registry.address());
    return name == null
        ? null
        : MappedFault.ofStore(
            directory.path().toAbsolutePath().resolveSibling(name),
            directory.at(".."),
            region.memory(),
            0,
            region.length());
  }

  /**
   * Returns in words how much of a region's file is left; null when the file was not shortened, or
   * can't be found.
   */
  String describeLoss(RemoteRegion region) {
    Slot slot = slot(region.key(), RegistryLayout.slotOffset(RegistryLayout.slot(region.key())));
    if (slot == null) {
      return null;
    }
    try {
      int descriptor = directory.openRegion(slot.name, false);
      try {
        ShmDirectory.Attributes now = ShmDirectory.attributes(descriptor);
        return now.inode() == slot.inode
            ? RemoteRegion.describeLoss(slot.name, now.bytes(), slot.offset + slot.length)
            : null;
      } finally {
        Libc.close(descriptor);
      }
    } catch (IOException e) {
      return null;
    }
  }

  /**
   * Maps a part of an open file.
   *
   * @param name the name of the file, for messages
   * @throws IOException when the file can't be opened for this use, can't be mapped, or is too
   *     short; a store or load beyond its end would kill the process
   */
  private static MemorySegment map(
      String name, int descriptor, long offset, long length, boolean writable, Arena arena)
      throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try (FileChannel channel = ShmDirectory.channel(descriptor, writable)) {
          if (offset < 0 || length < 0 || length > channel.size() - offset) {
            throw new IOException(name + " is shorter than its region");
          }
          MappingLimit.OF_PROCESS.require(name);
          return writable
              ? mapToWrite(channel, offset, length, arena)
              : channel.map(FileChannel.MapMode.READ_ONLY, offset, length, arena);
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
        } catch (IOException e) {
          throw UnmappedException.of(name, e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Maps with {@code MAP_SYNC} where the file system has it (DAX on persistent memory), as the
   * responder maps memory to which it stores. On DAX the first store to an allocated block makes
   * the file system record that the block holds data. With an ordinary mapping this record waits
   * for the journal, and after a power failure before that the block has zeros instead of the bytes
   * that the responder wrote back and acknowledged.
   */
  private static MemorySegment mapToWrite(
      FileChannel channel, long offset, long length, Arena arena) throws IOException {
    try {
      return channel.map(ExtendedMapMode.READ_WRITE_SYNC, offset, length, arena);
    } catch (UnsupportedOperationException e) {
      // This platform has no MAP_SYNC.
    } catch (IOException e) {
      if (!channel.isOpen() || UnmappedException.isReasonOf(e)) {
        throw e; // The file system may have MAP_SYNC, so an ordinary mapping might be too weak.
      }
    }
    return channel.map(FileChannel.MapMode.READ_WRITE, offset, length, arena);
  }

  @Override
  public void close() {
    mappings.close();
  }
}
