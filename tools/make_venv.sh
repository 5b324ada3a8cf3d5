#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the virtual environment that the tests and linters run in: PyTorch, pytest, clang-format ...
#
# usage: make_venv.sh FOLDER
#
# The torch wheel for Linux is the CUDA build and depends on 4 GB of NVIDIA's libraries. Where there
# is no NVIDIA device they are left out, and tools/cpu_torch.py puts empty stand-ins in their place:
# a quarter of the time and of the disk, and torch on the CPU is the same.
set -euo pipefail

folder=$1
here=$(dirname "$0")
requirements=$here/../requirements

python3 -m venv "$folder"
pip=("$folder/bin/python" -m pip --disable-pip-version-check install --quiet)
if [[ -e /dev/nvidiactl ]]; then
  "${pip[@]}" --requirement "$requirements/test.txt" --requirement "$requirements/lint.txt"
else
  # requirements/test.txt names all that is needed besides NVIDIA's wheels, so nothing else has to be looked up.
  "${pip[@]}" --no-deps --requirement "$requirements/test.txt"
  "${pip[@]}" --requirement "$requirements/lint.txt"
  "$folder/bin/python" "$here/cpu_torch.py" "$folder"/lib/python3*/site-packages
fi
