# shellcheck shell=bash disable=SC2034,SC2154 # names shared through the script that sources it
# Which shared libraries a bundle takes along, and how they find each other after it has moved.

# glibc stays the machine's own: it must match the loader, and an older one cannot run newer code.
glibc='^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|anl|mvec|nsl|nss_.*|thread_db))\.so'
glibc+='|^libBrokenLocale\.so'
# The driver and what LibTorch brings are too large, and too particular to a machine.
gpu='^lib(torch|c10|cuda|cudart|cudnn|cublas|cufft|cufile|cupti|curand|cusolver|cusparse|nccl|nv)'

# HDF5 needs thirty more libraries, for one container. It is taken from the machine; without it that
# container does not work.
hdf5='^libhdf5'

needed_by() {
  readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# resolved_by FILE NAME: the path at which the loader finds NAME for FILE.
resolved_by() {
  ldd "$1" 2>/dev/null | sed -n "s|^[[:space:]]*$2 => \(/[^ ]*\) .*|\1|p" | head -n 1
}

# is_excluded NAME PATH
is_excluded() {
  [[ $1 =~ $glibc || $1 =~ $gpu || $1 =~ $hdf5 || $2 == "${torch_root:-/nonexistent}"/* ]]
}

# bundled_libraries FILE...: the paths of the libraries that they need, at any depth, without the
# excluded ones. ldd's own list would also name what the excluded ones need.
bundled_libraries() {
  local queue=("$@") file name path
  local -A seen=()
  while ((${#queue[@]})); do
    file="${queue[0]}"
    queue=("${queue[@]:1}")
    while read -r name; do
      [[ -z ${seen[$name]:-} ]] || continue
      seen[$name]=yes
      path="$(resolved_by "$file" "$name")"
      is_excluded "$name" "$path" && continue
      [[ -n $path ]] || die "$file" "needs $name, which is not on this machine" \
        "run scripts/bootstrap"
      printf '%s\n' "$path"
      queue+=("$path")
    done < <(needed_by "$file")
  done
}

# copy_licences FOLDER LIBRARY...: what the distribution says of each library's copyright. One
# question to dpkg for all; it may know a path with or without /usr in front.
copy_licences() {
  local folder="$1" library package paths=()
  shift
  command -v dpkg-query >/dev/null || return 0
  mkdir -p "$folder"
  for library in "$@"; do
    library="$(readlink -f "$library")"
    paths+=("$library" "${library#/usr}" "/usr$library")
  done
  while read -r package; do
    [[ ! -e /usr/share/doc/$package/copyright ]] ||
      cp -L "/usr/share/doc/$package/copyright" "$folder/$package"
  done < <(dpkg-query -S "${paths[@]}" 2>/dev/null | sed 's/[:,].*//' | sort -u)
}

# make_relocatable FOLDER: every file looks for its libraries beside itself, wherever it lies.
make_relocatable() {
  local file name
  for file in "$1"/lib/*; do
    patchelf --set-rpath "\$ORIGIN" "$file"
  done
  for file in "$1"/bin/*; do
    patchelf --set-rpath "\$ORIGIN/../lib" "$file"
  done
  # CUDA's libraries lie in folders that only LibTorch's own run path knows, and it loads them
  # anyway: without naming them, the path of LibTorch's lib folder is enough.
  for file in "$1/lib/libfeedrate_train.so" "$1/bin/test_cuda"; do
    [[ -e $file ]] || continue
    while read -r name; do
      [[ ! $name =~ $gpu || $name =~ ^lib(torch|c10) ]] || patchelf --remove-needed "$name" "$file"
    done < <(needed_by "$file")
  done
}

# make_launcher FOLDER: the same by a wrapper, where there is no patchelf.
make_launcher() {
  mv "$1/bin/feedrate" "$1/bin/feedrate.bin"
  cat >"$1/bin/feedrate" <<'LAUNCHER'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH="$here/../lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/feedrate.bin" "$@"
LAUNCHER
  chmod +x "$1/bin/feedrate"
}
