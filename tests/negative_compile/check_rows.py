#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a row of the operator table compiles only when it states every column.

usage: check_rows.py        (the compiler is $CXX, or c++)

Each complete_*.cc must compile; without any one of its `.column = ...` lines it must not, and the
compiler must name `Stated` as the reason, not something that the deletion broke by the way.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ROWS = sorted(HERE.glob("complete_*.cc"))
COLUMN = re.compile(r"^\s*\.(\w+) = ")


def compile_error(source: str) -> str:
    """Returns what the compiler says against `source`, empty when it compiles."""
    compiler = [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-w"]
    done = subprocess.run(
        [*compiler, f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", "-xc++", "-"],
        input=source,
        capture_output=True,
        text=True,
    )
    return done.stderr if done.returncode else ""


def check(row: Path) -> tuple[int, int]:
    """Returns how many of the row's columns are asked for, and how many are not."""
    lines = row.read_text().splitlines(keepends=True)
    if error := compile_error("".join(lines)):
        print(f"{row.name} must compile, and does not:\n{error}")
        return 0, 1
    columns = [(i, found[1]) for i, line in enumerate(lines) if (found := COLUMN.match(line))]
    failures = 0 if columns else 1
    for i, column in columns:
        error = compile_error("".join(lines[:i] + lines[i + 1 :]))
        if "Stated" not in error:
            failures += 1
            print(
                f"{row.name} without .{column} compiles"
                if not error
                else f"{row.name} without .{column}:\n{error}"
            )
    return len(columns) - failures, failures


def main() -> int:
    results = [check(row) for row in ROWS]
    passed, failed = (sum(column) for column in zip(*results, strict=True))
    print(f"negative_compile: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
