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
    Cell cell = sizes.cell(scale);
    return String.format(
        Locale.ROOT,
        "%s, %s",
        cell.valueBytes() < 1024 ? cell.valueBytes() + " B" : cell.valueBytes() / 1024 + " KiB",
        cell.objects() % 1_000_000 == 0
            ? cell.objects() / 1_000_000 + " M"
            : cell.objects() / 1_000 + " k");
  }

  /** The size of the store. */
  enum Scale {
    SMALL,
    KIB,
    BIG
  }

  /** A store: a number of objects of one size. */
  record Cell(int valueBytes, long objects) {}
}
