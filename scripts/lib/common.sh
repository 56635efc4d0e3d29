# shellcheck shell=bash disable=SC2034,SC2154 # names shared through the script that sources it
# What every script shares: where things lie, how a step is announced, how a failure is told.

repository="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cache="${FEEDRATE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/feedrate}"
step_number=0
step_count=0
step_started=0
step_did_nothing=yes

# die THING REASON REMEDY: the one way in which a script gives up.
die() {
  printf '\n%s: %s\n  remedy: %s\n' "$1" "$2" "$3" >&2
  exit 1
}

# milliseconds: a clock for announcing durations, nothing finer.
milliseconds() {
  local now="${EPOCHREALTIME/[.,]/}"
  printf '%s' "$((now / 1000))"
}

# step TITLE: announces the next step; step_done closes its line.
step() {
  step_number=$((step_number + 1))
  step_started="$(milliseconds)"
  step_did_nothing=yes
  printf '[%d/%d] %s ... ' "$step_number" "$step_count" "$1"
}

# step_works TEXT: the step has something to do, and says what.
step_works() {
  step_did_nothing=no
  printf '\n      %s\n' "$1"
}

# step_done [NOTE]: how the step ended and how long it took.
step_done() {
  local elapsed=$(($(milliseconds) - step_started)) note="${1:-done}"
  if [[ $step_did_nothing == yes ]]; then
    note="${1:-already there}"
  else
    printf '      '
  fi
  printf '%s (%d.%d s)\n' "$note" "$((elapsed / 1000))" "$((elapsed % 1000 / 100))"
}

# logged LOG REMEDY COMMAND...: runs it quietly; where it fails, shows the end of the log.
logged() {
  local log="$1" remedy="$2"
  shift 2
  mkdir -p "$(dirname "$log")"
  printf '\n$ %s\n' "$*" >>"$log"
  if ! "$@" >>"$log" 2>&1; then
    printf '\n' >&2
    tail -n 15 "$log" | sed 's/^/  | /' >&2
    die "$1" "failed; the whole output is in $log" "$remedy"
  fi
}

# require_free_space FOLDER GIB: LibTorch is large, and a full disk fails late and oddly.
require_free_space() {
  local free
  mkdir -p "$1"
  free="$(df --output=avail -B1G "$1" | tail -n 1 | tr -d ' ')"
  ((free >= $2)) || die "$1" "has $free GiB free, this step needs $2 GiB" \
    "free some space, or set FEEDRATE_CACHE to a folder on a larger disk"
}

# fingerprint FILE...: what a stamp remembers, so that changed requirements install anew.
fingerprint() {
  cat "$@" | sha256sum | cut -d ' ' -f 1
}

# usage SCRIPT: the comment at the head of a script is its help.
usage() {
  sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$1"
}
