# Lays out a build as launcher/src/main/sh/start.sh describes it; read by ./erda and by distribution/assemble.

# Copies what Maven made in the source tree $1 (each module's output directory is called $2) to the new directory $3,
# with the Java in $4.
lay_out() {
  mkdir "$3" "$3/lib" "$3/lib/laboratory" "$3/lib/laboratory/ycsb"
  cp -p "$1/launcher/$2"/lib/*.jar "$1/launcher/$2"/erda-launcher-*.jar "$3/lib/"
  # What measures and tests Erda, and what it alone needs.
  for jar in "$1/torture/$2"/lib/*.jar "$1/torture/$2"/erda-torture-*.jar; do
    [ -e "$3/lib/${jar##*/}" ] || cp -p "$jar" "$3/lib/laboratory/"
  done
  # YCSB, and what YCSB alone needs.
  for jar in core htrace-core4 jackson-core-asl jackson-mapper-asl; do
    mv "$3/lib/laboratory/$jar"-[0-9]*.jar "$3/lib/laboratory/ycsb/" || die "which jar is $jar? It belongs to YCSB"
  done
  # The classes of picocli are too old for the class cache; the jar stays as it is where that can't be mended.
  "$4/bin/java" -XX:+UseSerialGC -cp "$3/lib/*" io.erda.launcher.NewerClassFiles "$3"/lib/picocli-*.jar \
    > /dev/null 2>&1 || :
  # One order everywhere, not the locale's: the class cache is bound to it.
  (cd "$3/lib" && ls -d *.jar | LC_ALL=C sort > ../classpath)
  # Two lines: of every JVM, and of a server besides.
  sed -n 's/^jvm\.flags=//p; s/^jvm\.server\.flags=//p' \
    "$1/console/$2/classes/io/erda/console/launch.properties" > "$3/flags"
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
