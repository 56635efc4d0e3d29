# shellcheck shell=bash disable=SC2034,SC2154 # names shared through the script that sources it
# Configuring and building a preset, in the same way for test, quickstart and bundle.

dry_run=no

# show COMMAND...: prints it as it could be typed at the top of the checkout.
show() {
  local word
  printf '$'
  for word in "$@"; do
    word="${word#"$repository/"}"
    [[ $word == *[!A-Za-z0-9_./:,=+-]* ]] && word="$(printf '%q' "$word")"
    printf ' %s' "$word"
  done
  printf '\n'
}

# run COMMAND...: shows it, and runs it unless this is a rehearsal.
run() {
  show "$@"
  [[ $dry_run == yes ]] || "$@"
}

# phase NAME COMMAND...: runs it and says how long it took; where it fails, the script ends.
phase() {
  local name="$1" began elapsed
  shift
  printf '\n== %s\n' "$name"
  began="$(milliseconds)"
  "$@"
  elapsed=$(($(milliseconds) - began))
  printf '== %s: %d.%d s\n' "$name" "$((elapsed / 1000))" "$((elapsed % 1000 / 100))"
}

# bootstrap [OPTION...]: what is missing on this machine, then the environment to configure in.
bootstrap() {
  run "$repository/scripts/bootstrap" "$@"
  [[ $dry_run == no ]] || return 0
  # shellcheck disable=SC1091 # written by the line above
  . "$cache/env.sh"
}

# build_preset PRESET [-DNAME=VALUE...] [-- TARGET...]: configures (quietly) and builds all of it,
# or the targets named.
build_preset() {
  local preset="$1" log="$repository/build/$1-configure.log" options=() build
  shift
  while (($#)) && [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  build=(cmake --build --preset "$preset" -j "$(nproc)")
  (($# < 2)) || build+=(--target "${@:2}")
  show cmake --preset "$preset" ${options[@]+"${options[@]}"}
  show "${build[@]}"
  [[ $dry_run == no ]] || return 0
  cd "$repository" || exit
  logged "$log" "the message above names it; scripts/bootstrap installs what is missing" \
    cmake --preset "$preset" ${options[@]+"${options[@]}"}
  "${build[@]}" || die "build/$preset" "does not build" "the first error above names the file"
}

has_gpu() {
  command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU '
}

# gpu_architectures: what to compile CUDA kernels for: the GPUs of this machine; without one, a form
# that any GPU's driver finishes when it loads it. (A bundle for other machines takes all.)
gpu_architectures() {
  local found=""
  ! has_gpu || found="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
    grep -E '^[0-9]+\.[0-9]+$' | sort -u | paste -sd ';')"
  printf '%s' "${found:-7.5+PTX}"
}
