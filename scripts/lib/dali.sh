# shellcheck shell=bash disable=SC2034,SC2154 # names shared through the script that sources it
# NVIDIA DALI, for --loader dali: its wheel, in the cache. Its Python half is not used.

dali_requirements="$repository/scripts/requirements-dali.txt"
dali="$cache/dali-$(sed -n 's/^nvidia-dali-cuda130==//p' "$dali_requirements")"

ensure_dali() {
  local mark partial="$dali.partial"
  step "DALI"
  mark="$(fingerprint "$dali_requirements")"
  if [[ ! -f $dali/.feedrate-stamp || "$(<"$dali/.feedrate-stamp")" != "$mark" ]]; then
    require_free_space "$cache" 2
    step_works "downloading about 200 MB into $dali"
    fetch_wheels "$dali_requirements" "$partial"
    # Only the CPU's codecs are used; the GPU's complain of libraries that are not here.
    rm -f "$partial"/nvidia/nvimgcodec/extensions/libnv{jpeg,jpeg2k,tiff}_ext.so*
    printf '%s\n' "$mark" >"$partial/.feedrate-stamp"
    rm -rf "$dali"
    mv -T "$partial" "$dali"
  fi
  step_done
}
