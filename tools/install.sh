# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Sourced by demo, check and .ci/run: the packages that they need from the distribution, and the
# build.
# Debian 12, Ubuntu 24.04 and later.

build_packages=(g++ cmake ninja-build libboost-dev libfmt-dev libyaml-cpp-dev nlohmann-json3-dev
  libcli11-dev libeigen3-dev zlib1g-dev libsqlite3-dev libxxhash-dev catch2)

# The packages that build the module of Python, and those that its tests and the notebook need
# besides.
python_packages=(python3-dev pybind11-dev python3-venv python3-pandas)
notebook_packages=(python3-matplotlib python3-nbconvert python3-ipykernel)

# Installs those of the named packages that are missing; changes nothing where all are there.
install_packages() {
  local package missing=() installed
  installed=" $(dpkg-query -W -f '${Package}:${db:Status-Status} ' "$@" 2>/dev/null || true)"
  for package in "$@"; do
    [[ $installed == *" $package:installed "* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "missing packages, and no sudo to install them: ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# build_preset PRESET FOLDER [TARGET…]: configures once; from then on the build configures itself
# anew when it must.
build_preset() {
  local preset=$1 folder=$2
  shift 2
  if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  [[ -f $folder/build.ninja ]] || cmake --preset "$preset"
  cmake --build "$folder" ${1:+--target "$@"}
}
