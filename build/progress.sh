# Says what a build is doing while Maven does it; read by ./erda.

# Where standard error is a terminal one line is written again and again.
if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then
  terminal=yes
else
  terminal=
fi

# Says $1 in place of what was said before; where there is no terminal, on a line of its own.
say_now() {
  if [ -n "$terminal" ]; then
    printf '\r\033[Kerda: %s' "$1" >&2
  else
    printf 'erda: %s\n' "$1" >&2
  fi
}

# Takes the last line back from a terminal.
say_no_more() {
  [ -z "$terminal" ] || printf '\r\033[K' >&2
}

minutes_since() {
  passed=$(($(date +%s) - $1))
  printf '%d:%02d' $((passed / 60)) $((passed % 60))
}

# Copies what Maven says, from standard input, to the file $1, and says how far it is. Without a terminal it says so of
# each module, and every hundred files that are fetched; with $2 = quiet it says nothing there.
tell_progress() {
  begun=$(date +%s)
  at="Maven starts"
  doing=
  fetched=0
  modules=0
  : > "$1"
  while IFS= read -r line; do
    printf '%s\n' "$line" >> "$1"
    said=
    case $line in
      '[INFO] Downloaded from '*)
        fetched=$((fetched + 1))
        doing=": fetching"
        [ "$((fetched % 100))" != 0 ] || said=yes
        ;;
      '[INFO] Building '*' ['*/*']')
        modules=${line##*/}
        number=${line##*\[}
        name=${line#'[INFO] Building '}
        name=${name%% [0-9]*}
        at="module ${number%/*} of ${modules%]} (${name#Erda: })"
        doing=
        said=yes
        ;;
      '[INFO] --- '*:compile' '*) doing=": compiling" ;;
      '[INFO] --- '*) doing= ;;
      *) continue ;;
    esac
    if [ -n "$terminal" ] || { [ -n "$said" ] && [ "${2:-}" != quiet ]; }; then
      say_now "$(minutes_since "$begun"), $at$doing, $fetched files fetched"
    fi
  done
  say_no_more
}
