#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the source distribution and the wheel of the Python package, and checks the wheel.
#
# usage: make_wheel.sh FOLDER        where they go
#
# The wheel holds the libraries that it is linked with, so that it runs on any Linux whose C library
# is as new as this machine's: `auditwheel` names the version in the wheel's tag (manylinux_2_36 on
# Debian 12). What is compiled is kept in build/wheel.
set -euo pipefail

folder=$(realpath --canonicalize-missing "$1")
cd "$(dirname "$0")/.."
work=build/wheel
mkdir -p "$work" "$folder"

[[ -x $work/venv/bin/python ]] || python3 -m venv "$work/venv"
bin=$PWD/$work/venv/bin
"$bin/python" -m pip --disable-pip-version-check install --quiet --requirement requirements/wheel.txt
export PATH=$bin:$PATH CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# The wheel is built of what is in the source distribution, and of nothing else.
rm -rf "$work/plain" "$work/repaired" "$work/source"
python -m build --no-isolation --sdist --outdir "$folder" .
mkdir -p "$work/source"
# Files of a source distribution have times of their own, older than what an earlier run compiled:
# with these they would not be compiled again. ccache knows those that are as they were.
tar --extract --gzip --touch --strip-components=1 --directory "$work/source" \
  --file "$(ls -t "$folder"/steelyard-*.tar.gz | head -1)"
python -m build --no-isolation --wheel --outdir "$work/plain" \
  --config-setting=build-dir="$PWD/$work/build" --config-setting=install.strip=true "$work/source"
auditwheel repair --wheel-dir "$work/repaired" "$work"/plain/*.whl
cp "$work"/repaired/*.whl "$folder"
python tests/install/check_wheel.py "$work"/repaired/*.whl
ls -l "$folder"
