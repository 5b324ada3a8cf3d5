#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the source distribution and the wheel of the Python package, and checks the wheel.
#
# usage: make_wheel.sh FOLDER        where they go
#
# The wheel holds the libraries that it is linked with, so that it runs on any Linux whose C library
# is as new as this machine's: `auditwheel` names that version in the wheel's tag (manylinux_2_36 on
# Debian 12), and refuses what would need another. What is compiled is kept in build/wheel.
set -euo pipefail

folder=$(realpath --canonicalize-missing "$1")
cd "$(dirname "$0")/.."
work=build/wheel
mkdir -p "$work" "$folder"

[[ -x $work/venv/bin/python ]] || python3 -m venv "$work/venv"
bin=$PWD/$work/venv/bin
"$bin/python" -m pip --disable-pip-version-check install --quiet --requirement requirements/wheel.txt
export PATH=$bin:$PATH CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

rm -rf "$work/plain"
python -m build --no-isolation --sdist --outdir "$folder" .
python -m build --no-isolation --wheel --outdir "$work/plain" \
  --config-setting=build-dir="$work/build" --config-setting=install.strip=true .
auditwheel --quiet repair --strip --wheel-dir "$work/repaired" "$work"/plain/*.whl 2>/dev/null ||
  auditwheel repair --wheel-dir "$work/repaired" "$work"/plain/*.whl
cp "$work"/repaired/*.whl "$folder"
python tests/install/check_wheel.py "$work"/repaired/*.whl
ls -l "$folder"
