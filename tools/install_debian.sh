#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing of the Debian packages that Steelyard is built and tested with.
#
# usage: install_debian.sh SET...        sets: build test bench fuzz
#
# The names are the same in Debian 12 and Ubuntu 24.04. Says nothing and asks for no rights when
# nothing is missing, so that it can stand before every build.
set -euo pipefail

declare -A sets=(
  [build]="g++ cmake ninja-build pkgconf libfmt-dev libsimdjson-dev libminizip-dev \
libdeflate-dev libprotozero-dev libexpected-dev libcli11-dev"
  [test]="ccache libgtest-dev libgmock-dev python3-venv python3-dev binutils"
  [bench]="hyperfine"
  [fuzz]="clang-16 libclang-rt-16-dev"
)

wanted=()
for name in "$@"; do
  [[ -n ${sets[$name]:-} ]] || { echo "unknown set: $name (there are: ${!sets[*]})" >&2; exit 2; }
  read -ra packages <<<"${sets[$name]}"
  wanted+=("${packages[@]}")
done

if ! command -v dpkg-query >/dev/null; then
  echo "Not a Debian or Ubuntu: please install what these packages hold: ${wanted[*]}" >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == *installed* && $status != *not-installed* ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then as_root=(sudo); fi
echo "Installing: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq </dev/null
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
