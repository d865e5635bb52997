# Lays out a build as launcher/src/main/sh/start.sh describes it; read by ./erda and by distribution/assemble.

# Copies what Maven made of the launcher in $1 (its output directory) to the new directory $2, with the Java in $3.
lay_out() {
  mkdir "$2" "$2/lib"
  cp -p "$1"/lib/*.jar "$1"/erda-launcher-*.jar "$2/lib/"
  # YCSB, and what YCSB alone needs.
  mkdir "$2/lib/ycsb"
  for jar in core htrace-core4 jackson-core-asl jackson-mapper-asl; do
    mv "$2/lib/$jar"-[0-9]*.jar "$2/lib/ycsb/" || die "which jar is $jar? It belongs to YCSB"
  done
  # Its classes are too old for the class cache; the jar stays as it is where that can't be mended.
  "$3/bin/java" -XX:+UseSerialGC -cp "$2/lib/*" io.erda.launcher.NewerClassFiles "$2"/lib/picocli-*.jar \
    > /dev/null 2>&1 || :
  # One order everywhere, not the locale's: the class cache is bound to it.
  (cd "$2/lib" && ls -d *.jar | LC_ALL=C sort > ../classpath)
  # Two lines: of every JVM, and of a server besides.
  sed -n 's/^jvm\.flags=//p; s/^jvm\.server\.flags=//p' \
    "$1/classes/io/erda/launcher/launcher.properties" > "$2/flags"
}

# Records the class caches of the build in $2 with the Java in $1: loaded and linked classes and profiles of their
# methods, mapped at the start. Without them everything works, only slower.
make_class_cache() {
  launch_settings "$2"
  record_class_cache "$1" "$2/erda.aot" "$2/training"
  # A server of another process, whose classes the short commands do not need.
  mkfifo "$2/end"
  : > "$2/served"
  "$1/bin/java" $flags -XX:+UseSerialGC -cp "$classpath" io.erda.launcher.Main server --data "$2/training" --child \
    < "$2/end" > "$2/served" 2> /dev/null &
  server=$!
  exec 8> "$2/end"
  until grep -q '^serving' "$2/served" || ! kill -0 "$server" 2> /dev/null; do
    sleep 0.1
  done
  record_class_cache "$1" "$2/short.aot" --uri "erda+shm:$2/training"
  exec 8>&-
  wait "$server" || :
  rm -rf "$2"/*.aot.config "$2/training" "$2/end" "$2/served"
}

# Records the class cache $2 with the Java in $1 from a training run with the other arguments.
record_class_cache() {
  cache_java=$1
  cache=$2
  shift 2
  "$cache_java/bin/java" $flags -XX:+UseSerialGC -XX:AOTCacheOutput="$cache" -Xlog:disable \
    -cp "$classpath" io.erda.launcher.TrainingRun "$@" > /dev/null 2>&1 || rm -f "$cache"
}
