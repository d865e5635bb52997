# Lays out a build as launcher/src/main/sh/start.sh describes it; read by ./erda and by distribution/assemble.

# Copies what Maven made of the launcher in $1 (its output directory) to the new directory $2, with the Java in $3.
lay_out() {
  mkdir "$2" "$2/lib"
  cp -p "$1"/lib/*.jar "$1"/erda-launcher-*.jar "$2/lib/"
  # Its classes are too old for the class cache; the jar stays as it is where that can't be mended.
  "$3/bin/java" -XX:+UseSerialGC -cp "$2/lib/*" io.erda.launcher.NewerClassFiles "$2"/lib/picocli-*.jar \
    > /dev/null 2>&1 || :
  # One order everywhere, not the locale's: the class cache is bound to it.
  (cd "$2" && ls lib | LC_ALL=C sort > classpath)
  # Two lines: of every JVM, and of a server besides.
  sed -n 's/^jvm\.flags=//p; s/^jvm\.server\.flags=//p' \
    "$1/classes/io/erda/launcher/launcher.properties" > "$2/flags"
}

# Records the class cache of the build in $2 with the Java in $1: loaded and linked classes and profiles of their
# methods, mapped at the start. Without it everything works, only slower.
make_class_cache() {
  launch_settings "$2"
  "$1/bin/java" $flags -XX:+UseSerialGC -XX:AOTCacheOutput="$2/erda.aot" -Xlog:disable \
    -cp "$classpath" io.erda.launcher.TrainingRun "$2/training" > /dev/null 2>&1 \
    || rm -f "$2/erda.aot"
  rm -rf "$2/erda.aot.config" "$2/training"
}
