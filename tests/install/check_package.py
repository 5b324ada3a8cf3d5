#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that an installed Steelyard can be used: examples/cmake_project finds it, builds and runs.

usage: check_package.py CMAKE BUILD_FOLDER
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "cmake_project"
MODEL = ROOT / "examples" / "bert-base-mlm-b4-s128.pt2"


def main() -> int:
    cmake, built = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        prefix, build = Path(folder, "prefix"), Path(folder, "build")
        subprocess.run(
            [cmake, "--install", built, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL
        )
        subprocess.run(
            [cmake, "-G", "Ninja", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"],
            check=True,
        )
        subprocess.run([cmake, "--build", build], check=True)
        subprocess.run([build / "example", MODEL], check=True)
        subprocess.run([prefix / "bin" / "steelyard", "--version"], check=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as problem:
        sys.exit(str(problem))
