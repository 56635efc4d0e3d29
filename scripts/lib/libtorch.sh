# shellcheck shell=bash disable=SC2034,SC2154 # names shared through the script that sources it
# LibTorch: the machine's own where CMAKE_PREFIX_PATH leads to one, else the wheel, in the cache.

libtorch_requirements="$repository/scripts/requirements-libtorch.txt"
torch_version="$(sed -n 's/^torch==//p' "$libtorch_requirements")"
libtorch="$cache/libtorch-$torch_version"

# wheel_tags: pip's options for the wheels of this architecture, whatever Python runs pip: the C++
# half of the wheel does not care that it is tagged for CPython 3.11.
wheel_tags() {
  local machine minor
  machine="$(uname -m)"
  printf '%s\n' --python-version 3.11 --only-binary=:all: --no-deps
  printf '%s\n' --platform "manylinux2014_$machine"
  for minor in {17..28}; do
    printf '%s\n' --platform "manylinux_2_${minor}_$machine"
  done
  [[ $machine != x86_64 ]] || printf '%s\n' --platform manylinux1_x86_64 \
    --platform manylinux2010_x86_64 --platform manylinux_2_5_x86_64 --platform manylinux_2_12_x86_64
}

# fetch_wheels REQUIREMENTS FOLDER: downloads first and unpacks then, so that an interrupted
# download goes on with the next wheel. The wheels go once they are unpacked.
fetch_wheels() {
  local tags wheels="$cache/wheels"
  mapfile -t tags < <(wheel_tags)
  mkdir -p "$wheels"
  logged "$log" "$pip_failed; finished downloads are kept" "$report_venv/bin/python" -m pip \
    download -q --no-cache-dir --progress-bar off -d "$wheels" "${tags[@]}" -r "$1"
  rm -rf "$2"
  logged "$log" "see the log; is the disk full?" "$report_venv/bin/python" -m pip install -q \
    --no-index --find-links "$wheels" --no-compile --target "$2" "${tags[@]}" -r "$1"
  rm -rf "$wheels"
}

# torch_in_prefix_path: the Torch_DIR of a LibTorch that the user has named, if any.
torch_in_prefix_path() {
  local prefix sub
  for prefix in ${Torch_DIR:+"$Torch_DIR"} ${CMAKE_PREFIX_PATH:+${CMAKE_PREFIX_PATH//[:;]/ }}; do
    for sub in . Torch share/cmake/Torch torch/share/cmake/Torch; do
      if [[ -f $prefix/$sub/TorchConfig.cmake ]]; then
        (cd "$prefix/$sub" && pwd)
        return
      fi
    done
  done
}

# torch_is_cuda: whether the LibTorch found is built for CUDA (a CPU one needs no toolkit).
torch_is_cuda() {
  [[ -f $torch_dir/../../../lib/libtorch_cuda.so ]]
}

install_libtorch() {
  local partial="$libtorch.partial"
  require_free_space "$cache" 7
  step_works "downloading about 2.3 GB into $cache (log: $log)"
  fetch_wheels "$libtorch_requirements" "$partial"
  [[ -f $partial/torch/share/cmake/Torch/TorchConfig.cmake ]] ||
    die "$partial" "holds no TorchConfig.cmake" "remove $cache and run scripts/bootstrap again"
  fingerprint "$libtorch_requirements" >"$partial/.feedrate-stamp"
  rm -rf "$libtorch"
  mv -T "$partial" "$libtorch"
}

# CUDA 13 dropped Volta and older, and needs a driver of the 580 series: say so before a run finds
# out.
note_old_gpu() {
  local name capability driver
  command -v nvidia-smi >/dev/null || return 0
  while IFS=, read -r name capability driver; do
    if [[ ${capability/./} =~ ^\ ?[0-9]+$ ]] && ((${capability/./} < 75)); then
      printf '      note: %s is older than CUDA 13 supports; name a LibTorch for CUDA 12 by %s\n' \
        "$name" "CMAKE_PREFIX_PATH"
    elif [[ ${driver%%.*} =~ ^\ ?[0-9]+$ ]] && ((${driver%%.*} < 580)); then
      printf '      note: driver%s is older than 580, which CUDA 13 needs: update it for %s\n' \
        "$driver" "$name"
    fi
  done < <(nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader 2>/dev/null)
}

# ensure_libtorch: sets torch_dir and uses_cached_torch.
ensure_libtorch() {
  step "LibTorch $torch_version"
  torch_dir="$(torch_in_prefix_path)"
  # A path into the cache comes from an earlier env.sh, not from the user.
  if [[ -n $torch_dir && $torch_dir != "$libtorch"/* ]]; then
    uses_cached_torch=no
    step_done "using the one at $torch_dir"
    return
  fi
  uses_cached_torch=yes
  torch_dir="$libtorch/torch/share/cmake/Torch"
  [[ "$(cat "$libtorch/.feedrate-stamp" 2>/dev/null)" == \
    "$(fingerprint "$libtorch_requirements")" ]] ||
    install_libtorch
  step_done
  note_old_gpu
}
