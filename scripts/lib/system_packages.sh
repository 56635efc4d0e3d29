# shellcheck shell=bash disable=SC2034,SC2154 # names shared through the script that sources it
# The compiler and the libraries that come from the distribution, by apt.

packages_files=("$repository/scripts/requirements-apt.txt")

# missing_packages: the lines of the list of which no alternative is installed. Reads dpkg's
# database once and asks apt nothing, so that a second start costs no time.
missing_packages() {
  local installed line alternative found
  installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' |
    sed -n 's/^installed //p' | tr '\n' ' ')"
  while read -r line; do
    [[ -z $line || $line == \#* ]] && continue
    found=no
    for alternative in ${line//|/ }; do
      [[ $installed == *" $alternative "* ]] && found=yes
    done
    [[ $found == yes ]] || printf '%s\n' "$line"
  done < <(cat "${packages_files[@]}")
}

# known_to_apt PACKAGE: whether this distribution offers it, by the lists that lie on the disk.
known_to_apt() {
  LC_ALL=C apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'
}

# choose_alternatives LINE...: one package a line, of "a|b" the first that apt knows.
choose_alternatives() {
  local line alternative chosen
  for line in "$@"; do
    chosen="${line%%|*}"
    for alternative in ${line//|/ }; do
      if known_to_apt "$alternative"; then
        chosen="$alternative"
        break
      fi
    done
    printf '%s\n' "$chosen"
  done
}

# lists_are_missing LINE...: whether apt has never heard of one of them, as on a fresh machine.
lists_are_missing() {
  local package
  while read -r package; do
    known_to_apt "$package" || return 0
  done < <(choose_alternatives "$@")
  return 1
}

# find_root: sets as_root to what a command needs in front of it to run as root.
find_root() {
  if ((EUID == 0)); then
    as_root=(env)
  elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
    as_root=(sudo env)
  else
    return 1
  fi
  as_root+=(DEBIAN_FRONTEND=noninteractive)
}

apt_failed="check the network (and the proxy) and /etc/apt/sources.list, then run it again"

apt_update() {
  logged "$log" "$apt_failed" "${as_root[@]}" apt-get update -q
}

install_packages() {
  local apt=(apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300) packages
  local updated=no
  if lists_are_missing "$@"; then
    apt_update
    updated=yes
  fi
  mapfile -t packages < <(choose_alternatives "$@")
  if [[ $updated == no ]] && ! "${as_root[@]}" "${apt[@]}" "${packages[@]}" >>"$log" 2>&1; then
    apt_update # lists too old for the mirror: packages that they name are gone
    updated=yes
  fi
  [[ $updated == no ]] ||
    logged "$log" "$apt_failed" "${as_root[@]}" "${apt[@]}" "${packages[@]}"
}

require_cmake() {
  local version
  version="$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')"
  [[ "$(printf '%s\n' 3.25 "$version" | sort -V | head -n 1)" == 3.25 ]] || die "cmake" \
    "is version $version, 3.25 or newer is needed (Debian 12, Ubuntu 24.04)" \
    "put a newer cmake first in PATH, for example: python3 -m pip install --user 'cmake>=3.25'"
}

ensure_system_packages() {
  local missing names
  step "system packages"
  if [[ $with_system == no ]]; then
    step_done "skipped (--no-system)"
    return
  fi
  command -v dpkg-query >/dev/null || die "system packages" "this is neither Debian nor Ubuntu" \
    "install the equivalents of scripts/requirements-apt.txt, then run with --no-system"
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]})); then
    names="$(choose_alternatives "${missing[@]}" | tr '\n' ' ')"
    find_root || die "system packages" "missing and neither root nor sudo is at hand: ${names% }" \
      "have an administrator run: apt-get install --no-install-recommends ${names% }"
    step_works "installing ${names% } (log: $log)"
    install_packages "${missing[@]}"
  fi
  require_cmake
  step_done
}
