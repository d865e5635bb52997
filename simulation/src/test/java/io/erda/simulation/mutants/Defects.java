package io.erda.simulation.mutants;

import io.erda.hashtable.HashTable;
import io.erda.hashtable.Resizing;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectChecksum;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Work;
import io.erda.server.engine.publishing.Syncs;
import io.erda.server.engine.tables.Tables;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/** The code of mutants for which omitting a call is not enough. */
public final class Defects {
  private static final long ENTRIES_AT = 4096;
  private static final long ENTRY_BYTES = 16;
  private static final List<Runnable> LATER = new ArrayList<>();

  private Defects() {}

  /** An object is taken for whole. */
  public static int believe(ObjectChecksum checksum, long place, long room, int mix) {
    return (int) room;
  }

  /** A word is stored over another one whatever that is. */
  public static boolean storeAnyway(
      HashTable table, long slot, long keyWord, long expected, long next) {
    call(table, "putVersionWord", slot, next);
    return true;
  }

  /** An object that is stored by {@link #runLater}. */
  public static void putLater(
      PersistentMemory memory, long offset, MemorySegment source, long sourceOffset, long length) {
    byte[] bytes = source.asSlice(sourceOffset, length).toArray(ValueLayout.JAVA_BYTE);
    LATER.add(() -> memory.put(offset, MemorySegment.ofArray(bytes), 0, length));
  }

  /** A word is stored whatever is there, and not compared. */
  public static boolean swapAnyway(Tables tables, long entry, long expected, long next) {
    return tables.swapWord(entry, tables.versionWord(entry), next);
  }

  /** Returns false whatever the value of a field is. */
  public static boolean no(Object ignored) {
    return false;
  }

  /** A flush that waits for {@link #runLater}. */
  public static void flushLater(PersistentMemory memory, long offset, long length) {
    LATER.add(() -> memory.flush(offset, length));
  }

  /** A failure that is not reported. */
  public static boolean isDoneOrFailed(Syncs syncs) {
    try {
      return syncs.isDone();
    } catch (UncheckedIOException e) {
      // The second time there is none to tell of.
      return syncs.isDone();
    }
  }

  /** A drain that waits for {@link #runLater}. */
  public static void addLater(Syncs syncs, PersistentMemory memory) {
    LATER.add(memory::drain);
  }

  /** A WRITE that waits for {@link #runLater}. */
  public static boolean writeLater(QueuePair queuePair, Work write) {
    Work kept = Work.write().set(write);
    LATER.add(() -> queuePair.post(kept));
    return true;
  }

  /** Forgets what a process that died had put off. */
  public static void forgetLater() {
    LATER.clear();
  }

  /** Slots of the region table that wait for {@link #runLater}. */
  public static void makeSlotsLater(MemoryDirectory directory, LogGeometry geometry) {
    LATER.add(() -> {
      try {
        LogStore.makeSlots(directory, geometry);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    });
  }

  /** The work that a defect has put off. */
  public static void runLater() {
    List<Runnable> now = List.copyOf(LATER);
    LATER.clear();
    now.forEach(Runnable::run);
  }

  /** A displacement that empties the source before the destination is durable, or even stored. */
  public static void carryBackwards(
      PersistentMemory memory, long source, long destination, long keyWord, long versionWord) {
    long from = ENTRIES_AT + source * ENTRY_BYTES;
    long to = ENTRIES_AT + destination * ENTRY_BYTES;
    memory.putLongRelease(from + 8, 0);
    memory.putLongRelease(from, 0);
    memory.flush(from, ENTRY_BYTES);
    memory.drain();
    memory.putLongRelease(to + 8, versionWord);
    memory.putLongRelease(to, keyWord);
    memory.flush(to, ENTRY_BYTES);
    memory.drain();
  }

  /**
   * Makes everything durable except objects, at the first opening with the promise of power
   * failure.
   */
  public static void makeStructuresDurable(MemoryDirectory directory) throws IOException {
    for (String name : directory.names()) {
      if (!name.startsWith("region-")) {
        try (PersistentMemory memory = directory.open(name)) {
          memory.flush(0, memory.segment().byteSize());
          memory.drain();
        }
      }
    }
    directory.sync();
  }

  /** How many regions a page of the map names: far fewer than fit. */
  public static int fewRecords(int left, int most) {
    return Math.min(left, 2);
  }

  /** Returns 0 whatever the value of a field is. */
  public static long zero(Object ignored) {
    return 0;
  }

  /** Where recovery begins to look: only in the last page below the high-water mark. */
  public static long lastPage(Object regionState) {
    return Math.max(field(regionState, "low"), field(regionState, "high") - 1 & -4096L);
  }

  /** The rest of an extent goes back to the log when it was the last one. */
  public static void giveBack(Object log, Object extent) {
    Object[] states = (Object[]) object(object(log, "linked"), "bySlot");
    Object state = states[(int) field(object(extent, "region"), "slot")];
    long end = field(extent, "place") + field(extent, "length");
    if (field(state, "append") == end) {
      set(state, "append", field(extent, "settled"));
    }
  }

  // A table that becomes smaller.

  /**
   * Whether entries are moved to a smaller table, as the move, the tables or their growth know; of
   * a growth also whether they are about to be.
   */
  public static boolean isHalving(Object of) {
    return switch (of.getClass().getSimpleName()) {
      case "Resizing" -> buckets(object(of, "to")) < buckets(object(of, "from"));
      case "Tables" -> object(of, "resizing") != null && isHalving(object(of, "resizing"));
      default -> {
        Object resizing = object(object(of, "tables"), "resizing");
        yield resizing == null
            ? field(of, "createdBuckets") < field(object(of, "superblock"), "tables", "buckets")
            : isHalving(resizing);
      }
    };
  }

  private static long buckets(Object table) {
    return ((HashTable) table).buckets();
  }

  /** The table that entries are moved to, but none while that is the smaller one. */
  public static Object nextUnlessHalving(Object tables) {
    return isHalving(tables) ? null : object(tables, "next");
  }

  /** The version words of copies, stored and drained by {@link #runLater}. */
  public static void fillLater(Object resizing, int begin, int end) {
    HashTable from = (HashTable) object(resizing, "from");
    HashTable to = (HashTable) object(resizing, "to");
    long[] slots = (long[]) object(resizing, "slots");
    long[] targets = (long[]) object(resizing, "targets");
    for (int i = begin; i < end; i++) {
      long target = targets[i];
      long word = from.versionWord(slots[i]);
      LATER.add(() -> call(to, "fillStaged", target, word));
    }
    LATER.add(to::drain);
  }

  /** The word of the stretch behind this one, or of the first one behind the last. */
  public static long wordOfTheNext(Object resizing, Object stretch) {
    long slots = ((HashTable) object(resizing, "from")).slots();
    long first = field(stretch, "first") + field(stretch, "slots");
    long behind = first == slots ? 0 : first;
    int length = (int) Math.min(field(stretch, "slots"), slots - behind);
    try {
      Constructor<?> make = stretch.getClass().getDeclaredConstructor(long.class, int.class);
      make.setAccessible(true);
      return (long) call(make.newInstance(behind, length), "word");
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Keeps the tables for the superblock, which {@link #runLater} stores. */
  public static void storeLater(Object growth, Object tables) {
    LATER.add(() -> call(growth, "store", tables));
  }

  /** Marks that are freed by {@link #runLater}, all of them. */
  public static boolean forgetMarksLater(Resizing resizing, int slotsMax) {
    LATER.add(() -> {
      while (!resizing.forget(slotsMax)) {
        // Forgetting goes on.
      }
    });
    return true;
  }

  /** Calls a method that has a unique name, and passes on its exception. */
  private static Object call(Object of, String name, Object... arguments) {
    for (Method method : of.getClass().getDeclaredMethods()) {
      if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
        method.setAccessible(true);
        try {
          return method.invoke(of, arguments);
        } catch (InvocationTargetException e) {
          switch (e.getCause()) {
            case RuntimeException thrown -> throw thrown;
            case Error thrown -> throw thrown;
            default -> throw new IllegalStateException(e);
          }
        } catch (IllegalAccessException e) {
          throw new IllegalStateException(e);
        }
      }
    }
    throw new IllegalStateException(of.getClass() + " has no " + name);
  }

  private static long field(Object of, String name, String ofThat) {
    return field(object(of, name), ofThat);
  }

  private static Object object(Object of, String name) {
    try {
      return accessible(of, name).get(of);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  private static long field(Object of, String name) {
    return ((Number) object(of, name)).longValue();
  }

  private static void set(Object of, String name, long value) {
    try {
      accessible(of, name).setLong(of, value);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Field accessible(Object of, String name) {
    try {
      Field field = of.getClass().getDeclaredField(name);
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException(e);
    }
  }
}
