package io.erda.eval.paper;

/** What the paper compares. */
enum Scheme {
  ERDA("Erda"),
  REDO_LOGGING("Redo Logging"),
  READ_AFTER_WRITE("Read After Write");

  final String title;

  Scheme(String title) {
    this.title = title;
  }
}
