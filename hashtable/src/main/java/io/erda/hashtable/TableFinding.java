package io.erda.hashtable;

import static io.erda.hashtable.TableLayout.hex;

/** Something that {@link HashTable#check} found. */
public sealed interface TableFinding {
  /**
   * Whether this is damage; if not, it is a trace of a crash or a coincidence that does no harm.
   */
  boolean damage();

  /** One line for a person. */
  String message();

  /** The header is not what this version writes; nothing else was looked at. */
  record DamagedHeader(String message) implements TableFinding {
    @Override
    public boolean damage() {
      return true;
    }
  }

  /** The intent, or the slots it names, are nothing that a crash can leave. */
  record DamagedIntent(String message) implements TableFinding {
    @Override
    public boolean damage() {
      return true;
    }
  }

  /**
   * A crash interrupted a displacement; opening the table finishes it. Its two slots were not
   * checked otherwise.
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
   * The entries of these slots are, or were, being moved to a table of another size; {@link
   * Resizing#open} repairs what a crash left.
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

  /** An entry outside the neighbourhood of its home bucket: readers don't find it. */
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

  /** A version word in an entry without key word. */
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

  /** A version word that is not 0 and names no newest version. */
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

  /** Two entries with one key word that name the same object: one of them is a stale duplicate. */
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
   * Two entries with one key word: well if the keys in their objects differ, which the caller
   * compares; damage if not.
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
   * A free entry with a key word: an insertion or an emptying did not finish. The next user of the
   * slot overwrites it.
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
