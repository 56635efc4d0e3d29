# shellcheck shell=bash disable=SC2034,SC2154 # names shared through the script that sources it
# nvcc and the CUDA headers: the system's where they are complete and of LibTorch's major version,
# else the toolkit's own wheels beside the cached LibTorch.

cuda_requirements="$repository/scripts/requirements-cuda.txt"
cuda_wheels="$libtorch/nvidia/cu13"
cuda_major=13
cuobjdump_requirements="$repository/scripts/requirements-cuobjdump.txt"
cuobjdump="$cache/cuobjdump"

nvcc_version() {
  "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p'
}

# toolkit_of NVCC: the folder that it belongs to. nvcc itself knows best: it may be a wrapper.
toolkit_of() {
  local top
  top="$(: | "$1" -x cu -E --dryrun - 2>&1 | sed -n 's/^#\$ _*TOP=//p' | head -n 1)"
  [[ -n $top ]] || top="$(dirname "$(readlink -f "$1")")/.."
  (cd "$top" 2>/dev/null && pwd)
}

# is_complete TOOLKIT: an nvcc package alone is not enough, LibTorch links to the libraries.
is_complete() {
  local library
  [[ -f $1/include/cuda_runtime.h ]] || return 1
  for library in cudart cublas cufft curand cusparse cusolver nvrtc; do
    [[ -e $1/lib64/lib$library.so ]] || return 1
  done
}

# system_toolkit: the first fitting one of CUDACXX, CUDAToolkit_ROOT, PATH and the usual folders.
system_toolkit() {
  local nvcc root
  for nvcc in "${CUDACXX:-}" "${CUDAToolkit_ROOT:-/nonexistent}/bin/nvcc" \
    "$(command -v nvcc || true)" \
    /usr/local/cuda/bin/nvcc "/usr/local/cuda-$cuda_major"*/bin/nvcc; do
    [[ -x $nvcc && $nvcc != "$cuda_wheels"/* ]] || continue
    [[ $uses_cached_torch == no || "$(nvcc_version "$nvcc")" == "$cuda_major".* ]] || continue
    root="$(toolkit_of "$nvcc")"
    if is_complete "$root"; then
      printf '%s' "$root"
      return
    fi
  done
}

# link_names: the wheels hold libX.so.N only; the linker and CMake look for libX.so, and for lib64.
link_names() {
  local library name
  ln -sfn lib "$cuda_wheels/lib64"
  for library in "$cuda_wheels"/lib/*.so.*; do
    name="${library%%.so.*}.so"
    [[ -e $name ]] || ln -s "$(basename "$library")" "$name"
  done
}

install_cuda_wheels() {
  local partial="$cache/cuda.partial"
  require_free_space "$cache" 1
  step_works "no CUDA $cuda_major toolkit on this machine: downloading nvcc into $cuda_wheels"
  fetch_wheels "$cuda_requirements" "$partial"
  cp -a "$partial/nvidia/cu13/." "$cuda_wheels/"
  link_names
  rm -rf "$partial"
  [[ -x $cuda_wheels/bin/nvcc ]] || die "$cuda_wheels" "holds no nvcc" "install the CUDA toolkit"
  fingerprint "$cuda_requirements" >"$cuda_wheels/.feedrate-stamp"
}

# ensure_cuda_toolkit: sets toolkit, empty where the LibTorch found needs none.
ensure_cuda_toolkit() {
  step "CUDA toolkit"
  toolkit=""
  if ! torch_is_cuda; then
    step_done "not needed: this LibTorch is built for the CPU"
    return
  fi
  toolkit="$(system_toolkit)"
  if [[ -n $toolkit ]]; then
    step_done "using $toolkit"
    return
  fi
  [[ $uses_cached_torch == yes ]] || die "CUDA toolkit" \
    "the LibTorch at $torch_dir is built for CUDA, and no complete toolkit was found" \
    "install the CUDA toolkit of its version, or unset CMAKE_PREFIX_PATH to use the pinned LibTorch"
  toolkit="$cuda_wheels"
  [[ "$(cat "$cuda_wheels/.feedrate-stamp" 2>/dev/null)" == \
    "$(fingerprint "$cuda_requirements")" ]] ||
    install_cuda_wheels
  step_done
}

# ensure_cuobjdump: for a test of what was compiled for GPUs. Where the toolkit has none, that of a
# wheel.
ensure_cuobjdump() {
  local partial="$cuobjdump.partial"
  step "cuobjdump"
  if [[ -z $toolkit ]]; then
    step_done "not needed: nothing is compiled for GPUs"
  elif [[ -x $toolkit/bin/cuobjdump ]]; then
    step_done "the toolkit's"
  elif [[ "$(cat "$cuobjdump/.feedrate-stamp" 2>/dev/null)" == \
    "$(fingerprint "$cuobjdump_requirements")" ]]; then
    step_done
  else
    step_works "downloading it"
    # One test asks for it, and is skipped without: no reason to end the set-up.
    (fetch_wheels "$cuobjdump_requirements" "$partial") || {
      printf '      note: not available: the test of the compiled kernels is skipped\n'
      return 0
    }
    fingerprint "$cuobjdump_requirements" >"$partial/.feedrate-stamp"
    rm -rf "$cuobjdump"
    mv -T "$partial" "$cuobjdump"
    step_done
  fi
}
