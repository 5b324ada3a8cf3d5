#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every file is formatted as .clang-format and ruff say, or formats it.

usage: check_format.py [--fix]

Looks at the files that git tracks or would track. The formatters are those of the Python that runs
this script, so that their versions are the pinned ones; exit 77 where it has none.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def source_files(*patterns: str) -> list[str]:
    """Returns the files of the working tree that match, whether committed yet or not."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return sorted(name for name in listing.split("\0") if name and (ROOT / name).exists())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="format the files")
    fix = parser.parse_args().fix

    tools = Path(sys.executable).parent
    clang_format, ruff = tools / "clang-format", tools / "ruff"
    if not (clang_format.exists() and ruff.exists()):
        print(f"no clang-format and ruff beside {sys.executable}: tools/make_venv.sh installs them")
        return 77

    commands: list[list[str]] = []
    if sources := source_files("*.cc", "*.h"):
        commands.append(
            [str(clang_format), *(["-i"] if fix else ["--dry-run", "-Werror"]), *sources]
        )
    if scripts := source_files("*.py"):
        commands.append([str(ruff), "format", *([] if fix else ["--check"]), *scripts])
    failed = [command for command in commands if subprocess.run(command, cwd=ROOT).returncode]
    if failed and not fix:
        print("`make format` formats them")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
