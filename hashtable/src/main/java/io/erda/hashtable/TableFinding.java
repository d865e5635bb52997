package io.erda.hashtable;

import static io.erda.hashtable.TableLayout.hex;

/** A finding of {@link HashTable#check}. */
public sealed interface TableFinding {
  /**
   * Whether this finding is damage. Otherwise it is a trace of a crash, or a coincidence, and does
   * no harm.
   */
  boolean damage();

  /** Returns one line for a user. */
  String message();

  /**
   * The header has values that this version never writes. The rest of the table was not checked.
   */
  record DamagedHeader(String message) implements TableFinding {
    @Override
    public boolean damage() {
      return true;
    }
  }

  /** The intent, or a slot that it names, has a value that no crash can leave. */
  record DamagedIntent(String message) implements TableFinding {
    @Override
    public boolean damage() {
      return true;
    }
  }

  /**
   * A crash interrupted a displacement; opening the table finishes it. Its two slots were not
   * checked in other ways.
   */
  record InterruptedMove(long source, long destination, long keyWord, long versionWord)
      implements TableFinding {
    @Override
    public boolean damage() {
      return false;
    }

    @Override
    public String message() {
      return "key word "
          + hex(keyWord)
          + " is being moved from slot "
          + source
          + " to slot "
          + destination;
    }
  }

  /** A crash interrupted the removal of an entry; opening the table finishes it. */
  record InterruptedRemoval(long slot, long keyWord, long versionWord) implements TableFinding {
    @Override
    public boolean damage() {
      return false;
    }

    @Override
    public String message() {
      return "key word " + hex(keyWord) + " is being removed from slot " + slot;
    }
  }

  /**
   * The entries of these slots are or were being moved to a table of another size. {@link
   * Resizing#open} repairs the traces of a crash.
   */
  record InterruptedStretch(long first, int slots) implements TableFinding {
    @Override
    public boolean damage() {
      return false;
    }

    @Override
    public String message() {
      return slots + " slots from " + first + " are being moved to another table";
    }
  }

  /**
   * The entry was moved to the table of another size. The caller takes this for damage where there
   * is no such table.
   */
  record Moved(long slot, long keyWord) implements TableFinding {
    @Override
    public boolean damage() {
      return false;
    }

    @Override
    public String message() {
      return "slot " + slot + ": the entry of key word " + hex(keyWord) + " was moved";
    }
  }

  /** An entry lies outside the neighbourhood of its home bucket, so readers do not find it. */
  record Misplaced(long slot, long keyWord, long versionWord, long home) implements TableFinding {
    @Override
    public boolean damage() {
      return true;
    }

    @Override
    public String message() {
      return "slot "
          + slot
          + ": key word "
          + hex(keyWord)
          + " belongs to bucket "
          + home
          + " and is out of its reach";
    }
  }

  /** An entry has a version word, but no key word. */
  record NoKeyWord(long slot, long versionWord) implements TableFinding {
    @Override
    public boolean damage() {
      return true;
    }

    @Override
    public String message() {
      return "slot "
          + slot
          + ": version word "
          + VersionWord.toString(versionWord)
          + " without key word";
    }
  }

  /** A version word is not 0 and names no newest version. */
  record NoVersion(long slot, long keyWord, long versionWord) implements TableFinding {
    @Override
    public boolean damage() {
      return true;
    }

    @Override
    public String message() {
      return "slot "
          + slot
          + ": version word "
          + hex(versionWord)
          + " of key word "
          + hex(keyWord)
          + " names no newest version";
    }
  }

  /** Two entries with the same key word name the same object. One of them is a stale duplicate. */
  record Duplicate(long slot, long otherSlot, long keyWord, long versionWord, long otherVersionWord)
      implements TableFinding {
    @Override
    public boolean damage() {
      return true;
    }

    @Override
    public String message() {
      return "slots "
          + slot
          + " and "
          + otherSlot
          + ": key word "
          + hex(keyWord)
          + " twice, with a common version ("
          + VersionWord.toString(versionWord)
          + "; "
          + VersionWord.toString(otherVersionWord)
          + ")";
    }
  }

  /**
   * Two entries have the same key word. The caller compares the keys in their objects: if they
   * differ this is no damage, otherwise it is.
   */
  record SharedKeyWord(
      long slot, long otherSlot, long keyWord, long versionWord, long otherVersionWord)
      implements TableFinding {
    @Override
    public boolean damage() {
      return false;
    }

    @Override
    public String message() {
      return "slots " + slot + " and " + otherSlot + ": two entries with key word " + hex(keyWord);
    }
  }

  /**
   * A free entry has a key word, because an insertion or an emptying did not finish. The next
   * insertion into the slot overwrites it.
   */
  record LeftKeyWord(long slot, long keyWord) implements TableFinding {
    @Override
    public boolean damage() {
      return false;
    }

    @Override
    public String message() {
      return "slot " + slot + ": free, with the key word " + hex(keyWord) + " left";
    }
  }
}
