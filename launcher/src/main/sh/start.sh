# How a JVM of Erda is started, read by ./erda in a source tree and by bin/erda of a distribution.
#
# A build is a directory with the jars in lib/, `classpath` (their names, in order), `flags` (two lines: of every JVM, and
# of a server besides), and, where they could be recorded, the class caches: `short.aot` for commands that are over in a
# moment, `erda.aot` for the others. Jars of further commands, which measure and test Erda, are in lib/laboratory/ where
# the build has them, and in lib/laboratory/ycsb/ YCSB and what it alone needs.

# Where standard input, output or error is closed, the JVM's next file gets its number: its own file of classes would be
# read as standard input. So there is a file in the place of what is closed, which can't be read in the place of standard
# input, and can't be written in that of the others: whoever reads or writes it is told an error, and `put KEY -` stores no
# empty value. Standard error comes first, because the others' tests put something in its place.
{ true 3>&2; } || exec 2< /dev/null
{ true 3<&0; } 2> /dev/null || exec 0> /dev/null
{ true 3>&1; } 2> /dev/null || exec 1< /dev/null

# The JVM names files, and writes text, in the locale's characters. In the C locale of cron jobs and services these are
# ASCII alone, and in an old one they are not what is in the store.
case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in
  *UTF-8* | *utf-8* | *UTF8* | *utf8*) ;;
  *) export LC_ALL=C.UTF-8 ;;
esac

die() {
  printf 'erda: %s\n' "$1" >&2
  exit 1
}

# A JVM can't be started in a directory that was removed, and says that with a stack trace of its own. The first test costs
# no process, and holds unless somebody renamed or removed something.
[ "${PWD:-}" -ef . ] 2> /dev/null || [ -n "$(pwd -P 2> /dev/null)" ] \
  || die "the directory that this runs in was removed: cd to one that is there"

# Sets `major` to the first number of the version of the Java in $1, from its release file: starting it would take
# longer. Fails when there is no Java.
java_major() {
  major=
  [ -x "$1/bin/java" ] && [ -r "$1/release" ] || return 1
  while IFS='=' read -r key value; do
    if [ "$key" = JAVA_VERSION ]; then
      value=${value#\"}
      major=${value%%[!0-9]*}
      return
    fi
  done < "$1/release"
  return 1
}

# Sets `classpath`, `flags` and `server_flags` from the build in $1.
launch_settings() {
  classpath=
  while read -r jar; do
    classpath=$classpath${classpath:+:}$1/lib/$jar
  done < "$1/classpath"
  server_flags=
  { read -r flags && read -r server_flags || :; } < "$1/flags"
}

# Sets `command` to the first of the words that is no option; to nothing when there is none. The options that may stand
# before a command have no value.
find_command() {
  for command in "$@"; do
    case $command in -*) ;; *) return ;; esac
  done
  command=
}

# Adds the flags in $1. A collector among them gives way to one that the user asks for, since a JVM takes no two.
add_flags() {
  for flag in $1; do
    case "$flag ${ERDA_JAVA_OPTS:-}" in
      -XX:+Use*GC' '*-XX:+Use*GC*) ;;
      *) flags="$flags $flag" ;;
    esac
  done
}

# Adds the jars of the directory $1, which is below lib/, behind the others: a class cache is bound to the jars that it
# began with, and, where it was moved with them, to the directory that all jars are below.
add_jars() {
  for jar in "$1"/*.jar; do
    [ ! -e "$jar" ] || classpath=$classpath:$jar
  done
}

# Says why there is no JVM, behind the shell's own line.
cannot_start() {
  die "$java can't be started here. Is the C library that it needs (glibc) installed, and may programs be run from where \
it lies? ERDA_JAVA_HOME names another Java."
}

# Becomes the JVM of the command $3… with the Java in $1 and the build in $2. `more_flags` are flags of the caller's.
become_erda() {
  java=$1/bin/java
  build=$2
  shift 2
  launch_settings "$build"
  find_command "$@"
  cache=$build/erda.aot
  # A command that is over in a moment gains from a small heap set-up, the fast compiler alone, and a cache without the
  # classes of a server. Whatever is none of the launcher's commands is looked for in the laboratory.
  case $command in
    '' | help | get | put | delete | exists | keys | ping | stats | top | shell | classpath | completion | doctor)
      add_flags '-XX:+UseSerialGC -XX:TieredStopAtLevel=1'
      [ ! -r "$build/short.aot" ] || cache=$build/short.aot
      ;;
    server) add_flags "$server_flags" ;;
    clean | verify | backup | restore | export | import) ;;
    *)
      add_jars "$build/lib/laboratory"
      # It is old and has known holes, so no server has it.
      add_jars "$build/lib/laboratory/ycsb"
      # What comments state of the code is asserted in a simulation.
      [ "$command" != simulate ] || add_flags -ea
      ;;
  esac
  # These tell of all commands, or of the whole class path.
  case $command in
    '' | help | completion | shell) add_jars "$build/lib/laboratory" ;;
    classpath)
      add_jars "$build/lib/laboratory"
      add_jars "$build/lib/laboratory/ycsb"
      ;;
  esac
  set -- -cp "$classpath" io.erda.launcher.Main "$@"
  if [ -r "$build/peers/classpath" ]; then
    set -- "-Derda.peers=$build/peers/classpath" "$@"
  fi
  if [ -r "$cache" ]; then
    # Quiet where the cache doesn't fit, for example with other flags from ERDA_JAVA_OPTS.
    set -- "-XX:AOTCache=$cache" -Xlog:aot=off:stderr -Xlog:cds=off:stderr "$@"
  fi
  # A shell whose exec fails ends; nothing is left to trap when it succeeds.
  trap cannot_start EXIT
  # With its performance data a JVM changes to a directory below /tmp, and stays there if the user may not read the
  # directory that it came from: relative names would mean files there. What the JVM says by itself goes to standard error,
  # since standard output is for values.
  exec "$java" -XX:-UsePerfData -XX:+DisplayVMOutputToStderr -Xlog:disable -Xlog:all=warning:stderr $flags ${more_flags:-} ${ERDA_JAVA_OPTS:-} "$@"
}
