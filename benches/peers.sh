#!/usr/bin/env bash
# Measures dumptool beside the programs that do the same, in one run on the same files: CPU seconds, most memory, and how many
# times dumptool's that is.
#
#   benches/peers.sh                       a generated profile, a heap as hprof and as heap snapshot, and the bare floors
#   benches/peers.sh FILE...               these recordings (.mojo, .jfr) and JVM dumps (.hprof) instead
#
# austin-python is installed from PyPI. hprof-slurp, VisualVM's walker and memlab are measured where tests/consumers/run and
# tests/consumers/heaps have installed them, hprof-analyzer where it is on the PATH (`cargo install hprof-analyzer --version 0.3.1
# --locked`); what is not there is named. Memory is that of the whole process, mapped file
# included; `read` is reading the file and doing nothing with it.
set -euo pipefail
cd "$(dirname "$0")/.."

austin_version=2.4.0
cache=$PWD/.cache/peers
consumers=$PWD/.cache/consumers
tool=$PWD/target/release/dumptool
mkdir -p "$cache"

say() { printf '%-24s %-34s %9s %9s %9s %8s\n' "$@"; }

# measure FILE NAME COMMAND...: a line of the table. Ratios are to the last command whose name begins with dumptool.
ours=
measure() {
  local file=$1 name=$2 used
  shift 2
  if ! /usr/bin/time -o "$cache/time" -f '%U %S %e %M' "$@" > "$cache/out" 2> "$cache/err"; then
    say "$file" "$name" failed - - -
    tail -n 3 "$cache/err" >&2
    return
  fi
  used=$(awk '{ printf "%.2f %.2f %.0f", $1 + $2, $3, $4 / 1024 }' "$cache/time")
  read -r cpu wall memory <<< "$used"
  local ratio=-
  case $name in
    dumptool*) ours=$cpu ;;
    *) [ -z "$ours" ] || ratio=$(awk -v a="$cpu" -v b="$ours" 'BEGIN { printf "%.1f", a / (b > 0.005 ? b : 0.005) }') ;;
  esac
  say "$file" "$name" "$cpu" "$wall" "$memory" "$ratio"
}

# recording FILE: of Java's Flight Recorder, beside the JDK's own program, which JFR names (`jfr view` is in JDK 21 and later).
recording() {
  local file=$1 name jfr=${JFR:-jfr}
  name=$(basename "$file")
  cat "$file" > /dev/null
  ours=
  measure "$name" 'dumptool info' "$tool" info "$file"
  measure "$name" 'jfr summary' "$jfr" summary "$file"
  measure "$name" 'dumptool top' "$tool" top "$file"
  measure "$name" 'jfr view hot-methods' "$jfr" view hot-methods "$file"
}

absent() { say "$1" "$2" 'not installed' '' '' ''; }

profile() {
  local file=$1 name
  name=$(basename "$file")
  cat "$file" > /dev/null
  ours=
  measure "$name" read cat "$file"
  measure "$name" 'dumptool convert to austin' "$tool" convert --quiet --dialect peer "$file" "$cache/ours.austin"
  measure "$name" mojo2austin "$cache/venv/bin/mojo2austin" "$file" "$cache/peer.austin"
  measure "$name" 'dumptool convert to pprof' "$tool" convert --quiet "$file" "$cache/ours.pb.gz"
  measure "$name" 'austin2pprof (of the text)' "$cache/venv/bin/austin2pprof" "$cache/peer.austin" "$cache/peer.pb.gz"
  measure "$name" 'dumptool convert to speedscope' "$tool" convert --quiet --aggregate "$file" "$cache/ours.speedscope.json"
  measure "$name" 'austin2speedscope (of the text)' "$cache/venv/bin/austin2speedscope" "$cache/peer.austin" "$cache/peer.json"
  measure "$name" 'dumptool convert to folded' "$tool" convert --quiet "$file" "$cache/ours.folded"
  measure "$name" 'dumptool top' "$tool" top "$file"
}

# hprof FILE NAME: a dump of a JVM, or one that was converted to hprof.
hprof() {
  local file=$1 name=$2
  ours=
  measure "$name" 'read hprof' cat "$file"
  measure "$name" 'dumptool top --quick, hprof' "$tool" top --quick "$file"
  if [ -x "$consumers/bin/hprof-slurp" ]; then
    measure "$name" hprof-slurp "$consumers/bin/hprof-slurp" "$file"
  else
    absent "$name" hprof-slurp
  fi
  measure "$name" 'dumptool top, hprof' "$tool" top "$file"
  if command -v hprof-analyzer > /dev/null; then
    measure "$name" hprof-analyzer hprof-analyzer "$file" "$cache/peer.json"
  else
    absent "$name" hprof-analyzer
  fi
  local walker
  walker=$(find /usr/share/visualvm -name 'org-graalvm-visualvm-lib-jfluid-heap.jar' 2> /dev/null | head -n 1)
  if [ -n "$walker" ] && [ -e "$consumers/classes/NbCheck.class" ]; then
    # It goes on with an index that it has left beside the file.
    rm -rf "$file.hwcache"
    local classpath
    classpath=$consumers/classes:$walker:$(find /usr/share/visualvm /usr/share/java -name 'org-openide-util*.jar' | paste -sd:)
    measure "$name" "VisualVM's heap walker" java -Xmx4g -cp "$classpath" NbCheck "$file"
    rm -rf "$file.hwcache"
  else
    absent "$name" "VisualVM's heap walker"
  fi
}

heap() {
  local dump=$1 name
  name=$(basename "$dump")
  "$tool" convert --quiet "$dump" "$cache/heap.hprof"
  "$tool" convert --quiet "$dump" "$cache/heap.heapsnapshot"
  hprof "$cache/heap.hprof" "$name"
  if [ -d "$consumers/npm/node_modules/memlab" ]; then
    measure "$name" 'memlab, heapsnapshot' env NODE_PATH="$consumers/npm/node_modules" node --max-old-space-size=6000 -e '
      const { config } = require("@memlab/core");
      config.muteConsole = true;
      require("@memlab/heap-analysis").getFullHeapFromFile(process.argv[1]).then((heap) => console.log(heap.nodes.length));
    ' "$cache/heap.heapsnapshot"
  else
    absent "$name" 'memlab, heapsnapshot'
  fi
}

cargo build --locked --release --quiet
if [ ! -e "$cache/venv/$austin_version" ]; then
  python3 -m venv "$cache/venv"
  "$cache/venv/bin/pip" install --quiet "austin-python==$austin_version"
  touch "$cache/venv/$austin_version"
fi

say file program 'CPU s' 'wall s' MiB 'x ours'
if [ $# -gt 0 ]; then
  for file in "$@"; do
    case $file in
      *.hprof) hprof "$file" "$(basename "$file")" ;;
      *.jfr) recording "$file" ;;
      *) profile "$file" ;;
    esac
  done
  rm -rf "$cache"/ours.* "$cache"/peer.*
  exit
fi
# The inputs of the benchmarks, a tenth of them for the heap: peers take long. Both are written by the benchmarks themselves.
cargo bench --quiet --bench readers -- mojo-info > "$cache/bench" 2>&1
DUMPTOOL_BENCH_SCALE=0.1 cargo bench --quiet --bench readers -- dart-info >> "$cache/bench" 2>&1
profile "$(echo target/bench-data/mojo-250000-*.dump)"
heap "$(echo target/bench-data/dart-1000000-*.dump)"
rm -rf "$cache"/ours.* "$cache"/peer.* "$cache"/heap.*

# The floors: a plain reading, a bare pass over the varints (walk), and bare zstd of the columns.
printf '\nBeside the least work that could be done with the same file:\n'
cargo bench --quiet --bench readers -- -info -load
