package io.erda.eval.peers;

import java.util.Locale;

/** The measurements of each system, in the order of the report: nanoseconds an operation. */
enum Column {
  GET_SMALL("get", Scale.SMALL),
  PUT_SMALL("put", Scale.SMALL),
  GET_KIB("get", Scale.KIB),
  PUT_KIB("put", Scale.KIB),
  LOAD("load", Scale.KIB),
  LOAD_PIPELINED("pipelined load", Scale.KIB),
  GET_BIG("get", Scale.BIG),
  PUT_BIG("put", Scale.BIG);

  private final String operation;
  private final Scale scale;

  Column(String operation, Scale scale) {
    this.operation = operation;
    this.scale = scale;
  }

  /** The heading of the column. */
  String title(PeerSizes sizes) {
    return operation + " " + scaleTitle(sizes);
  }

  /** The store of the measurement, in words. */
  String scaleTitle(PeerSizes sizes) {
    return sizes.cell(scale).title();
  }

  /** The size of the store. */
  enum Scale {
    SMALL,
    KIB,
    BIG
  }

  /** A store: a number of objects of one size. */
  record Cell(int valueBytes, long objects) {
    /** The size of a value, in words. */
    String valueTitle() {
      return valueBytes < 1024 ? valueBytes + " B" : valueBytes / 1024 + " KiB";
    }

    /** The size of a value and the number of objects, in words. */
    String title() {
      return String.format(
          Locale.ROOT,
          "%s, %s",
          valueTitle(),
          objects % 1_000_000 == 0 ? objects / 1_000_000 + " M" : objects / 1_000 + " k");
    }
  }
}
