# shellcheck shell=bash disable=SC2034,SC2154 # names shared through the script that sources it
# Virtual environments in the cache: one for the report (its pip also fetches LibTorch), one for
# peers.

pip_failed="check the network (and the proxy, PIP_INDEX_URL, PIP_FIND_LINKS), then run it again"

# new_venv FOLDER [PYTHON...]: makes it with the first interpreter that is new enough and has venv.
# The distribution's interpreter comes first: one that a version manager compiled may lack
# profile-guided optimisation and be slower, and it disappears with its version.
new_venv() {
  local folder="$1" python
  shift
  for python in "$@" /usr/bin/python3 python3; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || continue
    rm -rf "$folder"
    if "$python" -m venv "$folder" >>"$log" 2>&1; then
      return
    fi
  done
  die "$folder" "no Python 3.10 or newer here can make a virtual environment" \
    "apt-get install python3-venv"
}

# venv_is_ready FOLDER MARK: its interpreter still starts and its requirements have not changed.
venv_is_ready() {
  [[ -f $1/.feedrate-stamp && "$(<"$1/.feedrate-stamp")" == "$2" ]] &&
    "$1/bin/python" -c '' 2>/dev/null
}

# modern_pip FOLDER: pip before 22 does not know today's manylinux tags.
modern_pip() {
  local major
  major="$("$1/bin/python" -m pip --version | sed 's/^pip \([0-9]*\).*/\1/')"
  ((major >= 22)) || logged "$log" "$pip_failed" "$1/bin/python" -m pip install -q 'pip>=24'
}

ensure_report_python() {
  local requirements="$repository/scripts/requirements-report.txt" mark
  step "Python for the report"
  mark="$(fingerprint "$requirements")"
  if ! venv_is_ready "$report_venv" "$mark"; then
    step_works "making $report_venv"
    new_venv "$report_venv"
    modern_pip "$report_venv"
    # pip compiles to bytecode now. Otherwise every process of every report would do so where
    # PYTHONDONTWRITEBYTECODE is set, as in containers.
    logged "$log" "$pip_failed" "$report_venv/bin/python" -m pip install -q --only-binary=:all: -r \
      "$requirements"
    printf '%s\n' "$mark" >"$report_venv/.feedrate-stamp"
  fi
  step_done
}

# The wheel's Python half is for CPython 3.11: that one can share the cached libraries, any other
# Python gets a torch of its own.
ensure_peers_python() {
  local requirements="$repository/scripts/requirements-peers.txt" mark site version
  step "Python torch for the peers"
  mark="$(fingerprint "$requirements" "$libtorch_requirements")"
  if ! venv_is_ready "$peers_venv" "$mark"; then
    step_works "making $peers_venv"
    new_venv "$peers_venv" python3.11
    modern_pip "$peers_venv"
    version="$("$peers_venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
    if [[ $version == 3.11 && $uses_cached_torch == yes ]]; then
      site="$("$peers_venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
      printf '%s\n' "$libtorch" >"$site/feedrate-libtorch.pth"
      install_peers --no-deps -r "$requirements"
      install_peers markupsafe mpmath
    else
      require_free_space "$cache" 8
      install_peers "$(grep '^torch==' "$libtorch_requirements")" -r "$requirements"
    fi
    logged "$log" "read the log" "$peers_venv/bin/python" -c 'import torch, torchvision'
    printf '%s\n' "$mark" >"$peers_venv/.feedrate-stamp"
  fi
  step_done
}

install_peers() {
  logged "$log" "$pip_failed" "$peers_venv/bin/python" -m pip install -q --no-compile \
    --only-binary=:all: "$@"
}
